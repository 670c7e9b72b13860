/** Groups a CPU profile by part: folders of this package, other packages, Node's own modules, and V8. Pure. */

/**
 * @typedef {{ functionName: string, url: string, lineNumber: number }} Frame
 * @typedef {{ nodes: { id: number, callFrame: Frame }[], samples: number[], timeDeltas: number[] }} Profile
 * @typedef {{ part: string, file: string, name: string, share: number }} Function_ share of the busy time spent in
 *   the function itself
 */

const OWN = /\/build\/modules\/(.+)\.js$/
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//

/** @param {Profile} profile @returns {Function_[]} the most expensive first */
export function functionsOf({ nodes, samples, timeDeltas }) {
  /** @type {Map<number, number>} */
  const selfUs = new Map()
  // A sample lasts until the next one.
  for (const [at, id] of samples.entries()) selfUs.set(id, (selfUs.get(id) ?? 0) + Math.max(0, timeDeltas[at + 1] ?? 0))
  /** @type {Map<string, { part: string, file: string, name: string, us: number }>} */
  const functions = new Map()
  for (const { id, callFrame } of nodes) {
    const us = selfUs.get(id) ?? 0
    if (us === 0 || callFrame.functionName === '(idle)') continue
    const of = { ...placeOf(callFrame), name: nameOf(callFrame) }
    const key = `${of.part} ${of.file} ${of.name}`
    const known = functions.get(key)
    if (known === undefined) functions.set(key, { ...of, us })
    else known.us += us
  }
  const all = [...functions.values()]
  const total = all.reduce((sum, { us }) => sum + us, 0)
  return all.map(({ us, ...of }) => ({ ...of, share: us / total })).toSorted((a, b) => b.share - a.share)
}

/** @param {readonly Function_[]} functions @param {(of: Function_) => string} key @returns {Record<string, number>} shares, the largest first */
export function sharesBy(functions, key) {
  /** @type {Map<string, number>} */
  const shares = new Map()
  for (const of of functions) shares.set(key(of), (shares.get(key(of)) ?? 0) + of.share)
  return Object.fromEntries([...shares].toSorted(([, a], [, b]) => b - a))
}

/** @param {Frame} frame @returns {{ part: string, file: string }} */
function placeOf({ url, functionName }) {
  const own = OWN.exec(url)?.[1]
  if (own !== undefined && !url.includes('/node_modules/'))
    return { part: own.includes('/') ? `src/${own.slice(0, own.indexOf('/'))}` : 'src', file: `src/${own}.ts` }
  const name = PACKAGE.exec(url)?.[1]
  if (name !== undefined) return { part: name, file: url.slice(url.lastIndexOf('/node_modules/') + 14) }
  if (url.startsWith('node:')) return { part: 'Node', file: url }
  if (functionName === '(garbage collector)') return { part: 'garbage collection', file: '' }
  if (functionName === '(program)') return { part: 'V8 and Node outside of JavaScript', file: '' }
  if (functionName.startsWith('RegExp: ')) return { part: 'regular expressions', file: '' }
  return url === '' ? { part: 'native functions', file: '' } : { part: 'others', file: url }
}

/** @param {Frame} frame */
function nameOf({ functionName, lineNumber, url }) {
  if (functionName === '') return `(anonymous:${lineNumber + 1})`
  return url === '' ? functionName.slice(0, 80) : functionName
}
