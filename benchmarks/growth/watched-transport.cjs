/** [worker] The transport as it is, which also tells the worker's heap: Node 20 does not let the main thread ask for it. */
'use strict'

const { parentPort } = require('node:worker_threads')

const EVERY_MS = 100

setInterval(() => {
  const { heapUsed } = process.memoryUsage()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's
  parentPort?.postMessage({ code: 'EVENT', name: 'bench:heap', args: [{ heapUsed }] })
}, EVERY_MS).unref()

module.exports = require('../../dist/cjs/index.js')
