/** [worker] The transport without the fast path: every line is parsed with JSON.parse. */
'use strict'

const { FastPath } = require('../../build/modules/record/fast/fast-path.js')

FastPath.prototype.map = () => false

module.exports = require('../../build/modules/transport/worker.js')
