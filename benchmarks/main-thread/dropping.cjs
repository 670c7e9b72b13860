/** [worker] The cheapest possible transport: it discards every chunk unread. */
'use strict'

const { Writable } = require('node:stream')

module.exports = () => new Writable({ decodeStrings: false, write: (_chunk, _encoding, done) => done() })
