/**
 * `beforeSend` that makes the worker as slow as a busy machine would: it blocks for `SLOW_LOAD_MS` when it is loaded, and for
 * `SLOW_ENTRY_MS` at every 80th record.
 */
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))

block(process.env.SLOW_LOAD_MS)
module.exports = (entry) => {
  if (entry.metadata.n % 80 === 0) block(process.env.SLOW_ENTRY_MS)
  return entry
}
