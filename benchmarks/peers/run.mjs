/** One run of one subject with the sink: processes, warm-up and counts. */
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
 * @property {number} records logged records; those below the level are not sent
 * @property {number} [warmUp] records before, 100,000 by default; 0: the first records of a process are measured
 * @property {number} delayMs
 * @property {number} [capacity]
 * @property {number} [refusesAbove]
 *
 * @typedef {object} Measured
 * @property {number} entriesPerSecond from the first call to the reply for the last entry
 * @property {number} mainUs CPU per sent entry, as are the next two
 * @property {number} workerUs
 * @property {number} workerAndOthersUs
 * @property {number} peakMib
 * @property {number} [entriesPerRequest] if there are requests
 * @property {number} [sinkUs] CPU of the sink per entry: it shares the machine
 *
 * @typedef {{ lost: number, duplicated: number, measured: Measured, seen: Seen | undefined }} Outcome
 */

const WARM_UP_RECORDS = 100_000
/** Records that are missing after this time without arrivals are lost. */
const LOST_AFTER_MS = 12_000
/** The maximum wait; records that arrive later count as lost. */
const LIMIT_MS = 60_000
/** Entries that arrive within this time after the last one are duplicates. */
const SETTLE_MS = 150
/**
 * Shorter than 1 s between warm-up and measurement: @axiomhq/pino sends every record alone if its last request is 1 s
 * old.
 */
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
  // With a service that slows down, finding the right rate is part of the measurement; otherwise it is warm-up.
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
