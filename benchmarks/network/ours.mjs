/** Ours as it comes, and with fewer requests in flight than it allows itself by default. */
import { SPOOL_OFF, SPOOL_ON } from '../peers/subjects.mjs'

/** @typedef {import('../peers/subjects.mjs').Subject} Subject */

/** At 100 ms an answer and 100 entries a request each request in flight is worth 1,000 entries a second. */
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
