/** [worker] The unbundled transport without the kernel: every line is parsed with JSON.parse. */
'use strict'

const { DECLINED_RUN, Kernel } = require('../../build/modules/record/kernel/kernel.js')

Kernel.prototype.run = () => DECLINED_RUN

module.exports = require('../../build/modules/index.js')
