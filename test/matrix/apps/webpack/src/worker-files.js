/**
 * Paths of the bundled files that pino runs in threads: https://getpino.io/#/docs/bundling. Must be imported before
 * pino.
 */
import { join } from 'node:path'

const file = (name) => join(__dirname, name)
Object.assign(globalThis, {
  __bundlerPathsOverrides: {
    'thread-stream-worker': file('thread-stream-worker.js'),
    'pino-worker': file('pino-worker.js'),
    'pino-ingest': file('pino-ingest.js'),
  },
})
