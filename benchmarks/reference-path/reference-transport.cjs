/** [worker] The transport without the kernel: every line is parsed with JSON.parse. */
'use strict'

const { DECLINED, Kernel } = require('../../build/modules/record/kernel/kernel.js')

Kernel.prototype.run = () => DECLINED

module.exports = require('../../build/modules/transport/worker.js')
