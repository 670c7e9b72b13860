/** [worker] The transport without the kernel: every line is parsed with JSON.parse. */
'use strict'

const { Kernel } = require('../../build/modules/record/kernel/kernel.js')

Kernel.prototype.map = () => false

module.exports = require('../../build/modules/transport/worker.js')
