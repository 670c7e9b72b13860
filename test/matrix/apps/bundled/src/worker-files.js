/** Paths of the bundled files that pino runs in threads: https://getpino.io/#/docs/bundling. Must be imported before pino. */
import { join } from 'node:path'

const file = (name) => join(__dirname, `${name}.cjs`)
Object.assign(globalThis, {
  __bundlerPathsOverrides: {
    'thread-stream-worker': file('thread-stream-worker'),
    'pino-worker': file('pino-worker'),
    'pino-ingest': file('pino-ingest'),
  },
})
