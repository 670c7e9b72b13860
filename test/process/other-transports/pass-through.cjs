/** The first stage of a pipeline: passes all records unchanged. */
const { Transform } = require('node:stream')

module.exports = () =>
  new Transform({
    transform(chunk, _encoding, done) {
      done(null, chunk)
    },
  })
