/** pino-ingest with its defaults, and with fewer requests in flight. */
import { SPOOL_OFF, SPOOL_ON } from '../peers/subjects.mjs'

/** @typedef {import('../peers/subjects.mjs').Subject} Subject */

/** With 100 ms per reply and 100 entries per request, each request in flight adds 1,000 entries per second. */
const FEW = 32

/** @type {readonly Subject[]} */
const DEFAULTS = [SPOOL_ON, SPOOL_OFF]

/** @type {readonly Subject[]} */
export const OURS = [
  ...DEFAULTS,
  ...DEFAULTS.map((subject) => ({
    ...subject,
    name: `${subject.name}, maxConcurrency ${FEW}`,
    options: (/** @type {string} */ origin, /** @type {string} */ folder) => ({
      ...subject.options(origin, folder),
      maxConcurrency: FEW,
    }),
  })),
]
