/**
 * An application that logs each value of the file `VALUES` as message, member, key of an error, binding and
 * breadcrumb. `PLAN`: options of pino-ingest.
 */
import { readFileSync } from 'node:fs'
import pino from 'pino'

const options = JSON.parse(process.env.PLAN)
const logger = pino({ level: 'debug', transport: { target: 'pino-ingest', options } })
for (const [index, value] of JSON.parse(readFileSync(process.env.VALUES, 'utf8')).entries()) {
  const text = typeof value === 'string' ? value : 'a structure'
  logger.debug({ crumb: value }, text)
  logger.info(Array.isArray(value) ? { value } : value)
  logger.info({ index, value, inner: [{ value }] }, 'a member')
  logger.child({ bound: value }).warn(`a message: ${text}`)
  logger.error(Object.assign(new Error(text), { config: value }), 'failed')
}
