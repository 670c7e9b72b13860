/**
 * [worker] The transport with a CPU profiler in its thread. The main thread sends `{}` to start it, and `{ file }` to
 * write the profile; it replies to both.
 */
'use strict'

const { writeFileSync } = require('node:fs')
const { Session } = require('node:inspector')
const { BroadcastChannel } = require('node:worker_threads')

const SAMPLE_EVERY_US = 250

module.exports = ({ target, options }) => {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })
  const channel = new BroadcastChannel('pino-ingest-bench-profile')
  channel.unref()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window's
  const done = () => channel.postMessage({ isDone: true })
  channel.addEventListener('message', ({ data: { file } }) => {
    if (file === undefined) return session.post('Profiler.start', done)
    session.post('Profiler.stop', (error, { profile }) => {
      writeFileSync(file, JSON.stringify(profile))
      done()
    })
  })
  const transport = require(target)
  return (transport.default ?? transport)(options)
}
