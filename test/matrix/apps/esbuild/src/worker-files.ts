/** Where the bundler put what pino runs in threads: https://getpino.io/#/docs/bundling. Imported before pino. */
import { join } from 'node:path'

const file = (name: string) => join(__dirname, name)
Object.assign(globalThis, {
  __bundlerPathsOverrides: {
    'thread-stream-worker': file('thread-stream-worker.cjs'),
    'pino-worker': file('pino-worker.cjs'),
    'pino-ingest': file('pino-ingest.cjs'),
  },
})
