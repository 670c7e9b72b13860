/**
 * [own process] Fills one store, then queries it. Arguments: memory or journal; number of entries; repetitions of
 * each query; the folder for its file.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MatchMemo } from '../../build/modules/service/query/matching/match-memo.js'
import { StoreReader } from '../../build/modules/service/store-reader.js'
import { resolveStoreFile } from '../../build/modules/service/store/store-file.js'
import { Store } from '../../build/modules/service/store/store.js'
import { QUERIES } from './queries.mjs'
import { entry, RELEASES, requestLog } from './records.mjs'

/**
 * @typedef {{
 *   entriesPerSecond: number, slowestAppendMs: number, requestLogsPerSecond: number, bytesPerEntry: number,
 *   fileMib: number, openMs: number, queries: { name: string, what: string, form: string, p50Ms: number, p95Ms: number, againMs: number }[],
 * }} Answered
 */

const BATCH = 100
const LIMITS = { maxEntries: 1_000_000, maxBytes: 2 ** 31 }
setFlagsFromString('--expose-gc')
const collect = /** @type {() => void} */ (runInNewContext('gc'))

const [storeName = 'memory', countText = '200000', timesText = '20', dir = ''] = process.argv.slice(2)
const count = Number(countText)
const file = storeName === 'memory' ? undefined : resolveStoreFile(join(dir, 'store'))
let store = open()
let seq = 0

const heapBytes = heap()
const entries = fill('entry', (n) => ({ batch_id: 'bench', entry: entry(n, count) }), count)
const bytesPerEntry = (heap() - heapBytes) / count
const requests = fill('request', (n) => ({ request: requestLog(n, count) }), count)
fill(
  'release',
  (n) => ({ release_id: RELEASES[n % RELEASES.length], release: { version: `1.${n % RELEASES.length}.0` } }),
  1000,
)
fill('heartbeat', (n) => ({ monitor: `monitor-${n % 20}`, name: null }), 10_000)
fill(
  'feedback',
  (n) => ({ feedback: { event_id: `evt_${n * 7}`, comments: `It did not work, for the ${n}th time` } }),
  10_000,
)

// The first queries after a restart run code that is not compiled yet.
let openMs = 0
if (file !== undefined) {
  store.close()
  const fromMs = performance.now()
  store = open()
  openMs = performance.now() - fromMs
}
const memo = new MatchMemo()
const queries = QUERIES.map(({ name, what, form, ask }) => {
  // A new reader has no cached results, as when entries arrive all the time, except the outcomes of searches.
  const timed = () => {
    const reader = new StoreReader(store, memo)
    const fromMs = performance.now()
    try {
      ask(reader, store)
    } catch (error) {
      // A regular expression has a limit of 2 s, which counts as its time.
      if (/** @type {{ code?: string }} */ (error).code !== 'QUERY') throw error
    }
    return performance.now() - fromMs
  }
  const first = Array.from({ length: Number(timesText) }, () => {
    memo.clear()
    return timed()
  })
  const again = Array.from({ length: Number(timesText) }, timed)
  return {
    name,
    what,
    form,
    p50Ms: percentile(first, 50),
    p95Ms: percentile(first, 95),
    againMs: percentile(again, 50),
  }
})
store.close()
process.send?.(
  /** @type {Answered} */ ({
    entriesPerSecond: entries.perSecond,
    slowestAppendMs: entries.slowestMs,
    requestLogsPerSecond: requests.perSecond,
    bytesPerEntry,
    fileMib: file === undefined ? 0 : statSync(file.path).size / 2 ** 20,
    openMs,
    queries,
  }),
)
process.disconnect?.()

/** @param {readonly number[]} values @param {number} percent */
function percentile(values, percent) {
  return values.toSorted((a, b) => a - b)[Math.ceil((percent * values.length) / 100) - 1] ?? 0
}

function open() {
  return new Store({
    ...LIMITS,
    file,
    onProblem: (message) => {
      throw new Error(message)
    },
  })
}

/**
 * Records arrive as in the service: parsed from JSON, in batches. @param {string} kind @param {(n: number) => object}
 * make @param {number} total
 */
function fill(kind, make, total) {
  let spentMs = 0
  let slowestMs = 0
  for (let from = 0; from < total; from += BATCH) {
    const made = Array.from({ length: Math.min(BATCH, total - from) }, (_, n) => {
      const at = new Date(Date.UTC(2026, 10, 21, 6) + (from + n) * ((6 * 3_600_000) / total)).toISOString()
      seq += 1
      return { id: `${kind}_bench_${seq.toString(36)}`, seq, received_at: at, ...make(from + n) }
    })
    const json = JSON.stringify(made)
    const records = JSON.parse(json)
    const fromMs = performance.now()
    store.append(/** @type {never} */ (kind), records, json.length)
    const tookMs = performance.now() - fromMs
    spentMs += tookMs
    slowestMs = Math.max(slowestMs, tookMs)
  }
  return { perSecond: (total / spentMs) * 1000, slowestMs }
}

/** Collects garbage until the heap no longer shrinks. */
function heap() {
  let bytes = Infinity
  for (;;) {
    collect()
    const { heapUsed } = process.memoryUsage()
    if (heapUsed > bytes - 10_000) return heapUsed
    bytes = heapUsed
  }
}
