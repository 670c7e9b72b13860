/** One run of one subject with the sink: processes, warm-up and counts. */
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { callsOf, sentOf } from '../tools/shapes.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('./sink.mjs').Seen} Seen
 * @typedef {import('./subjects.mjs').Subject} Subject
 *
 * @typedef {object} Load
 * @property {Shape} shape
 * @property {number} records logged records; those below the level are not sent
 * @property {number} warmUp records before; 0: the first records of a process are measured
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
 * @property {number} entriesPerRequest
 * @property {number} sinkUs CPU of the sink per entry: it shares the machine
 *
 * @typedef {{ lost: number, duplicated: number, measured: Measured, seen: Seen }} Outcome
 */

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
export async function run(sink, { peer, target, level = 'info', options }, { shape, records, warmUp, ...service }) {
  const begin = { peer, ...service }
  const calls = callsOf(shape)
  const warmUpSent = sentOf(calls, warmUp)
  const sent = sentOf(calls, records)
  const arrived = (/** @type {number} */ entries) =>
    sink.ask({ awaits: entries, quietMs: LOST_AFTER_MS + service.delayMs, limitMs: LIMIT_MS })
  // With a service that slows down, finding the right rate is part of the measurement; otherwise it is warm-up.
  await sink.ask({
    begin:
      service.capacity === undefined ? begin : { ...begin, delayMs: 0, capacity: undefined, refusesAbove: undefined },
  })
  const { dir, clean } = scratchFolder()
  /** @type {import('./app.mjs').Plan} */
  const plan = { shape, warmUp, records, level, transport: { target, options: options(sink.url, dir) } }
  const app = start(new URL('./app.mjs', import.meta.url), [JSON.stringify(plan)])
  try {
    await app.first
    let warm = 0
    if (warmUp > 0) {
      await arrived(warmUpSent)
      warm = (await sink.ask({ settleMs: WARM_UP_SETTLE_MS })).entries
    }
    await sink.ask({ begin })
    await app.ask('go on')
    const { lastAnswerNs, cpuUs } = await arrived(sent)
    /** @type {import('./app.mjs').Sample} */
    const { firstCallNs, mainUs, workerUs, othersUs, peakMib } = await app.ask('go on')
    const seen = await sink.ask({ settleMs: SETTLE_MS })
    const tooFew = [warmUpSent - warm, sent - seen.entries]
    return {
      lost: tooFew.reduce((sum, entries) => sum + Math.max(0, entries), 0),
      duplicated: tooFew.reduce((sum, entries) => sum + Math.max(0, -entries), 0),
      measured: {
        entriesPerSecond: sent / (Number(BigInt(lastAnswerNs) - BigInt(firstCallNs)) / 1e9),
        mainUs: mainUs / sent,
        workerUs: workerUs / sent,
        workerAndOthersUs: (workerUs + othersUs) / sent,
        peakMib,
        entriesPerRequest: seen.entries / seen.requests,
        sinkUs: cpuUs / sent,
      },
      seen,
    }
  } finally {
    await app.kill()
    clean()
  }
}
