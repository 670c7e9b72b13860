/**
 * [worker] The unchanged transport, which also reports the worker's heap: on Node 20 the main thread cannot read it.
 */
'use strict'

const { parentPort } = require('node:worker_threads')

const EVERY_MS = 100

setInterval(() => {
  const { heapUsed } = process.memoryUsage()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's
  parentPort?.postMessage({ code: 'EVENT', name: 'bench:heap', args: [{ heapUsed }] })
}, EVERY_MS).unref()

module.exports = require('../../dist/cjs/index.js')
