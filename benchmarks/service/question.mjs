/** The time of queries in the local service with 200,000 entries and as many request logs. */
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { table } from '../tools/table.mjs'
import { COLUMNS } from './queries.mjs'

/**
 * @typedef {import('./app.mjs').Answered} Answered
 * @typedef {{ entries: number, stores: { store: string, answered: Answered }[] }} Result
 */

const STORES = ['memory', 'journal']
const GOAL_MS = 150

export const question = {
  name: 'service',
  asks: 'How long does the local service take for a query, and what does storing cost?',
  options: { entries: 200_000, times: 20 },
  quick: { entries: 20_000, times: 3 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { entries = 0, times = 0 }, showProgress }) {
    const stores = []
    for (const store of STORES) {
      showProgress(`service: ${store}, ${entries.toLocaleString('en')} entries and as many request logs`)
      stores.push({ store, answered: await answered(store, entries, times) })
    }
    return { entries, stores }
  },

  /** @param {Result} result */
  lines({ entries, stores }) {
    return [
      `${entries.toLocaleString('en')} entries and as many request logs. Append: without HTTP and validation, in batches of 100`,
      '',
      ...table([COST_HEAD, ...stores.map(({ store, answered: found }) => costRow(store, found))]),
      '',
      `milliseconds: p50 and p95 of a new query, and p50 when it is repeated. Goal: a p95 of ${GOAL_MS}`,
      '',
      ...stores.flatMap(({ store, answered: { queries } }) => [
        ...table([[store, ...COLUMNS.flatMap((what) => [`${what} p50`, 'p95', 'again'])], ...formRows(queries)]),
        '',
        ...table([[store, 'p50', 'p95', 'again'], ...queries.filter(({ what }) => !isColumn(what)).map(queryRow)]),
        '',
      ]),
      ...stores.map(sentence),
    ]
  },
}

/** @param {string} store @param {number} entries @param {number} times @returns {Promise<Answered>} */
async function answered(store, entries, times) {
  const { dir, clean } = scratchFolder()
  try {
    return await start(new URL('./app.mjs', import.meta.url), [store, String(entries), String(times), dir]).first
  } finally {
    clean()
  }
}

const COST_HEAD = [
  'store',
  'entries/s',
  'slowest batch ms',
  'request logs/s',
  'heap bytes per entry',
  'file MiB',
  'opened in ms',
]

/** @param {string} store @param {Answered} answered */
function costRow(store, { entriesPerSecond, slowestAppendMs, requestLogsPerSecond, bytesPerEntry, fileMib, openMs }) {
  return [
    store,
    Math.round(entriesPerSecond).toLocaleString('en'),
    slowestAppendMs.toFixed(1),
    Math.round(requestLogsPerSecond).toLocaleString('en'),
    Math.round(bytesPerEntry).toLocaleString('en'),
    fileMib.toFixed(0),
    openMs.toFixed(0),
  ]
}

/** One row for each form of a query. @param {Answered['queries']} queries */
function formRows(queries) {
  const forms = [...new Set(queries.filter(({ what }) => isColumn(what)).map(({ form }) => form))]
  return forms.map((form) => [
    form,
    ...COLUMNS.flatMap((what) => {
      const found = queries.find((query) => query.what === what && query.form === form)
      return found === undefined ? ['', '', ''] : timesOf(found)
    }),
  ])
}

/** @param {string} what */
function isColumn(what) {
  return COLUMNS.some((column) => column === what)
}

/** @param {Answered['queries'][number]} query */
function queryRow(query) {
  return [query.name, ...timesOf(query)]
}

/** @param {Answered['queries'][number]} query */
function timesOf({ p50Ms, p95Ms, againMs }) {
  return [p50Ms, p95Ms, againMs].map((ms) => ms.toFixed(0))
}

/** @param {{ store: string, answered: Answered }} measured */
function sentence({ store, answered: { queries } }) {
  const slowest = queries.toSorted((a, b) => b.p95Ms - a.p95Ms)[0]
  const missed = queries.filter(({ p95Ms }) => p95Ms > GOAL_MS)
  const verdict =
    missed.length === 0 ? 'every query within the goal' : `${missed.length} of ${queries.length} missed the goal`
  return `${store}: ${verdict}; the slowest has a p95 of ${slowest?.p95Ms.toFixed(0)} ms (${slowest?.name})`
}
