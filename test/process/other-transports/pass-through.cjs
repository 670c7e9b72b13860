/** The first stage of a pipeline: hands every record on as it came. */
const { Transform } = require('node:stream')

module.exports = () =>
  new Transform({
    transform(chunk, _encoding, done) {
      done(null, chunk)
    },
  })
