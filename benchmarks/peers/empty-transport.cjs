/** [worker] Takes every chunk and drops it: pino and its hand-over alone. */
'use strict'

const { Writable } = require('node:stream')

module.exports = () => new Writable({ write: (_chunk, _encoding, done) => done() })
