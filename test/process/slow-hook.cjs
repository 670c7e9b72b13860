/**
 * A `beforeSend` that makes the worker as slow as on a busy machine: it blocks for `SLOW_LOAD_MS` when it is loaded,
 * and at each record until the file `SLOW_UNTIL` exists.
 */
const { existsSync } = require('node:fs')

const { SLOW_LOAD_MS, SLOW_UNTIL } = process.env
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

if (SLOW_LOAD_MS !== undefined) block(Number(SLOW_LOAD_MS))
module.exports = (entry) => {
  while (SLOW_UNTIL !== undefined && !existsSync(SLOW_UNTIL)) block(20)
  return entry
}
