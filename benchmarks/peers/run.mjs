/** One run of one subject against the sink: processes, warm-up, and what is counted where. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../tools/children.mjs'
import { callsOf, sentOf } from '../tools/shapes.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('./sink.mjs').Seen} Seen
 * @typedef {import('./subjects.mjs').Subject} Subject
 *
 * @typedef {object} Load
 * @property {Shape} shape
 * @property {number} records that are logged; those below the level are not sent
 * @property {number} [warmUp] records before them, 100,000 by default; 0: the first records of a process are measured
 * @property {number} delayMs
 * @property {number} [capacity]
 * @property {number} [refusesAbove]
 *
 * @typedef {object} Measured
 * @property {number} entriesPerSecond from the first call to the last entry's answer
 * @property {number} mainUs CPU an entry that is sent, as are the next two
 * @property {number} workerUs
 * @property {number} workerAndOthersUs
 * @property {number} peakMib
 * @property {number} [entriesPerRequest] where there are any
 * @property {number} [sinkUs] CPU of the sink an entry: it is on the same machine, and takes its part of it
 *
 * @typedef {{ lost: number, duplicated: number, measured: Measured, seen: Seen | undefined }} Outcome
 */

const WARM_UP_RECORDS = 100_000
/** What has not come when nothing has come for so long is lost. */
const LOST_AFTER_MS = 12_000
/** Nor is waited longer than this: what has not come by then counts as lost. */
const LIMIT_MS = 60_000
/** What comes within this after the last is a duplicate. */
const SETTLE_MS = 150
/** Less between warm-up and what is measured: @axiomhq/pino sends every record alone when its last request is a second ago. */
const WARM_UP_SETTLE_MS = 50

/** @template T @param {(sink: { url: string, ask: (question: object) => Promise<Seen> }) => Promise<T>} use @returns {Promise<T>} */
export async function withPeerSink(use) {
  const sink = start(new URL('./sink.mjs', import.meta.url))
  try {
    const { url } = await sink.first
    return await use({ url, ask: (question) => sink.ask(JSON.stringify(question)) })
  } finally {
    sink.stop()
  }
}

/**
 * @param {{ url: string, ask: (question: object) => Promise<Seen> }} sink @param {Subject} subject @param {Load} load
 * @returns {Promise<Outcome>}
 */
export async function run(sink, subject, load) {
  const folder = subject.needsFolder === true ? mkdtempSync(join(tmpdir(), 'pino-ingest-bench-')) : ''
  try {
    return subject.peer === '' ? await runAlone(subject, load) : await runAgainst(sink, subject, load, folder)
  } finally {
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {Parameters<typeof run>[0]} sink @param {Subject} subject @param {Load} load @param {string} folder @returns {Promise<Outcome>} */
async function runAgainst(sink, subject, load, folder) {
  const { shape, records, warmUp: warmUpRecords = WARM_UP_RECORDS, ...service } = load
  const begin = { peer: subject.peer, ...service }
  const calls = callsOf(shape)
  const warmUp = sentOf(calls, warmUpRecords)
  const sent = sentOf(calls, records)
  const arrived = (/** @type {number} */ entries) =>
    sink.ask({ awaits: entries, quietMs: LOST_AFTER_MS + service.delayMs, limitMs: LIMIT_MS })
  // How a sender finds the pace of a service that slows down is part of what is measured; of one that does not, it is warm-up.
  await sink.ask({
    begin:
      service.capacity === undefined ? begin : { ...begin, delayMs: 0, capacity: undefined, refusesAbove: undefined },
  })
  const app = startApp(subject, load, subject.options(sink.url, folder))
  await app.first
  const warm = warmUp === 0 ? undefined : await arrived(warmUp).then(() => sink.ask({ settleMs: WARM_UP_SETTLE_MS }))
  await sink.ask({ begin })
  await app.ask('go on')
  const { lastAnswerNs, cpuUs } = await arrived(sent)
  /** @type {import('./app.mjs').Sample} */
  const sample = await app.ask('go on')
  const seen = await sink.ask({ settleMs: SETTLE_MS })
  const tooFew = [warmUp - (warm?.entries ?? 0), sent - seen.entries]
  return {
    lost: tooFew.reduce((sum, entries) => sum + Math.max(0, entries), 0),
    duplicated: tooFew.reduce((sum, entries) => sum + Math.max(0, -entries), 0),
    measured: {
      ...measuredOf(sample, BigInt(lastAnswerNs), sent),
      entriesPerRequest: seen.entries / seen.requests,
      sinkUs: cpuUs / sent,
    },
    seen,
  }
}

/** @param {Subject} subject @param {Load} load @returns {Promise<Outcome>} */
async function runAlone(subject, load) {
  const app = startApp(subject, load, subject.options('', ''))
  await app.first
  await app.ask('go on')
  /** @type {import('./app.mjs').Sample} */
  const sample = await app.ask('go on')
  const sent = sentOf(callsOf(load.shape), load.records)
  return { lost: 0, duplicated: 0, measured: measuredOf(sample, BigInt(sample.flushedNs), sent), seen: undefined }
}

/** @param {Subject} subject @param {Load} load @param {object} options */
function startApp({ target, peer, level = 'info' }, { shape, records, warmUp = WARM_UP_RECORDS }, options) {
  /** @type {import('./app.mjs').Plan} */
  const plan = {
    shape,
    warmUp,
    records,
    level,
    awaitsFlush: peer === '',
    transport: { target, options },
  }
  return start(new URL('./app.mjs', import.meta.url), [JSON.stringify(plan)])
}

/** @param {import('./app.mjs').Sample} sample @param {bigint} endNs @param {number} sent @returns {Measured} */
function measuredOf({ firstCallNs, mainUs, workerUs, othersUs, peakMib }, endNs, sent) {
  return {
    entriesPerSecond: sent / (Number(endNs - BigInt(firstCallNs)) / 1e9),
    mainUs: mainUs / sent,
    workerUs: workerUs / sent,
    workerAndOthersUs: (workerUs + othersUs) / sent,
    peakMib,
  }
}
