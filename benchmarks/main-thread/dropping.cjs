/** [worker] The cheapest transport there can be: it takes every chunk and looks at none. */
'use strict'

const { Writable } = require('node:stream')

module.exports = () => new Writable({ decodeStrings: false, write: (_chunk, _encoding, done) => done() })
