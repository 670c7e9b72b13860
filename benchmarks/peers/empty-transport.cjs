/** [worker] Discards every chunk: the cost of pino and of passing chunks to its worker. */
'use strict'

const { Writable } = require('node:stream')

module.exports = () => new Writable({ write: (_chunk, _encoding, done) => done() })
