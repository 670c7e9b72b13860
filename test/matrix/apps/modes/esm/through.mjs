import { Transform } from 'node:stream'
import build from 'pino-abstract-transport'

export default () => build((source) => {
  const through = new Transform({
    objectMode: true, autoDestroy: true,
    transform: (record, _encoding, done) => done(null, `${JSON.stringify({ ...record, seen: true })}\n`),
  })
  source.pipe(through)
  return through
}, { enablePipelining: true })
