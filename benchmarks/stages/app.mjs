/**
 * [own process] Runs stages for each shape whose name it receives.
 * Arguments: the kind of stages; records; the sink's url.
 */
import { SHAPE_NAMES, chunksOf, linesOf } from '../tools/shapes.mjs'
import { passesOfBreadcrumbs } from './breadcrumbs.mjs'
import { passesOfDisk } from './disk.mjs'
import { passesOfMap } from './map.mjs'
import { passesOfRequest } from './request.mjs'
import { passesOfSplit } from './split.mjs'

/** @typedef {Record<string, number>} Passes what was measured, in µs of CPU for all records */

const [kind, count, url] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const records = Number(count)

const subjects = new Map(
  SHAPE_NAMES.map((name) => {
    const chunks = chunksOf(name, records)
    const bytes = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)
    return [name, { chunks, lines: linesOf(chunks), lineBytes: Math.round(bytes / records) }]
  }),
)

const measure = passes()
process.on('message', async (/** @type {string} */ shape) => {
  const perRecord = Object.entries(await measure(shape)).map(([name, us]) => [name, us / records])
  process.send?.(Object.fromEntries(perRecord))
})
process.send?.({ lineBytes: Object.fromEntries([...subjects].map(([name, { lineBytes }]) => [name, lineBytes])) })

/** @returns {(shape: string) => Passes | Promise<Passes>} */
function passes() {
  /** @param {string} shape */
  const subject = (shape) => /** @type {NonNullable<ReturnType<typeof subjects.get>>} */ (subjects.get(shape))
  switch (kind) {
    case 'split':
      return (shape) => passesOfSplit(subject(shape).chunks, records)
    case 'fast':
    case 'reference': {
      const run = passesOfMap(kind)
      return (shape) => run(subject(shape).lines)
    }
    case 'breadcrumbs':
      return (shape) => passesOfBreadcrumbs(subject(shape).lines)
    case 'disk':
      return (shape) => passesOfDisk(subject(shape).lines)
    case 'request':
      return (shape) => passesOfRequest(subject(shape).lines, url)
    default:
      throw new RangeError(`no such stage: ${kind}`)
  }
}
