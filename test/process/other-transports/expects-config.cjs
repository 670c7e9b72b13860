/** A CommonJS transport that waits for pino's configuration without a timeout, and writes it to a file. */
const { appendFileSync } = require('node:fs')
const build = require('pino-abstract-transport')

module.exports = ({ file }) =>
  build(
    async (source) => {
      appendFileSync(
        file,
        `${JSON.stringify({ messageKey: source.messageKey, errorKey: source.errorKey, levels: source.levels.values })}\n`,
      )
      let records = 0
      for await (const record of source) if (record !== undefined) records += 1
      appendFileSync(file, `${JSON.stringify({ records })}\n`)
    },
    { expectPinoConfig: true },
  )
