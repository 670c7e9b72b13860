/** The runs of this question. */
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from '../tools/children.mjs'
import { SPOOL_WAVES, spoolFolder } from '../tools/worker-runs.mjs'
import { drained, startForwarder } from './queue.mjs'

/** @typedef {import('./queue.mjs').Queue} Queue */

const ENTRIES_PER_BATCH = 100
const SHAPE = 'http'
const WORKER_APP = new URL('../tools/worker-app.mjs', import.meta.url)
/** A forwarder is measured once the queue is down to this share: it is warm by then. */
const WARM_SHARE = 0.7
const SCALE_FROM_SHARE = 0.9
const SCALE_UNTIL_SHARE = 0.2
/**
 * The service answers after 100 ms, so one forwarder delivers 80 batches per second: limited by that time, not by
 * this machine.
 */
const SCALE_CONCURRENCY = 8
const POLL_MS = 5
const FIRST_TIMEOUT_MS = 30_000

/**
 * An application logs through its worker, to the sink or into the queue.
 *
 * @param {{ url: string, queue: Queue | undefined, records: number }} run
 * @returns {Promise<import('../tools/worker-runs.mjs').Run & { serversUs?: number }>}
 */
export async function publish({ url, queue, records }) {
  const { dir, clean } = spoolFolder()
  try {
    const options = { spool: { dir }, ...(queue !== undefined && { nats: queue.option }) }
    const args = [SHAPE, 'fast', url, String(records), JSON.stringify(options), String(SPOOL_WAVES[SHAPE])]
    return await start(WORKER_APP, args).first
  } finally {
    clean()
  }
}

/**
 * One forwarder delivers the waiting batches as fast as it can.
 *
 * @param {{ queue: Queue, url: string }} run
 */
export async function forward({ queue, url }) {
  const all = await queue.waiting()
  const forwarder = startForwarder(queue, url)
  try {
    const from = await drained(queue, all * WARM_SHARE)
    const fromUs = forwarder.cpuUs()
    const until = await drained(queue, 0)
    const entries = (from.waiting - until.waiting) * ENTRIES_PER_BATCH
    return {
      forwardUs: (forwarder.cpuUs() - fromUs) / entries,
      forwardedPerSecond: (entries / (until.at - from.at)) * 1_000,
    }
  } finally {
    await forwarder.stop()
  }
}

/**
 * `count` forwarders deliver the waiting batches to a slow service.
 *
 * @param {{ queue: Queue, url: string, count: number }} run
 */
export async function scale({ queue, url, count }) {
  const all = await queue.waiting()
  const env = { PINO_INGEST_MAX_CONCURRENCY: String(SCALE_CONCURRENCY) }
  const forwarders = Array.from({ length: count }, () => startForwarder(queue, url, env))
  try {
    const from = await drained(queue, all * SCALE_FROM_SHARE)
    const until = await drained(queue, all * SCALE_UNTIL_SHARE)
    return { batchesPerSecond: ((from.waiting - until.waiting) / (until.at - from.at)) * 1_000 }
  } finally {
    await Promise.all(forwarders.map((one) => one.stop()))
  }
}

/**
 * From the start of a forwarder's process to its first request.
 *
 * @param {{ queue: Queue, sink: ReturnType<typeof start>, url: string }} run
 */
export async function takeUp({ queue, sink, url }) {
  await sink.ask('reset')
  const startedAt = Date.now()
  const forwarder = startForwarder(queue, url)
  try {
    for (;;) {
      const { firstAt } = await sink.ask('firstAt')
      if (firstAt > 0) return { takeUpMs: firstAt - startedAt }
      if (Date.now() - startedAt > FIRST_TIMEOUT_MS) throw new Error('a new forwarder sends no request')
      await sleep(POLL_MS)
    }
  } finally {
    await forwarder.stop()
  }
}
