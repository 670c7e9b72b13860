/**
 * Creates the errors of one library and logs each. Usage: `node run.mjs LIBRARY transport|ingestOptions()|lines`;
 * `lines` prints pino's output.
 */
import pino from 'pino'
import { flush, ingestOptions } from 'pino-ingest'

const [library, way] = process.argv.slice(2)
const options = { transport: { target: 'pino-ingest' } }
const logger = way === 'lines' ? pino() : pino(way === 'ingestOptions()' ? ingestOptions(options) : options)

/** Each case is a function that throws or rejects. */
const { cases, close } = await import(`./${library}.mjs`)
for (const [name, run] of Object.entries(cases)) {
  try {
    await run()
    process.exitCode = 3
    console.log(`${name} threw nothing`)
  } catch (error) {
    logger.error({ err: error, case: name }, 'it failed')
  }
}
const { state } = await flush(logger)
if (way !== 'lines' && state !== 'acknowledged') process.exitCode = 4
await close?.()
