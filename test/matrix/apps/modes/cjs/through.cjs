const { Transform } = require('node:stream')
const build = require('pino-abstract-transport')

module.exports = () => build((source) => {
  const through = new Transform({
    objectMode: true, autoDestroy: true,
    transform: (record, _encoding, done) => done(null, `${JSON.stringify({ ...record, seen: true })}\n`),
  })
  source.pipe(through)
  return through
}, { enablePipelining: true })
