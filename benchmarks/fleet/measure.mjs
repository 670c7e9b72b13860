/** The runs of this question. */
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { drained, startForwarder } from './queue.mjs'

/**
 * @typedef {import('./queue.mjs').Queue} Queue
 * @typedef {ReturnType<typeof start>} Sink
 */

/** Of the application, before it is measured. */
const WARM_UP_BATCHES = 1_000
const WARM_UP_RECORDS = 100 * WARM_UP_BATCHES
const APP = new URL('../cost/app.mjs', import.meta.url)
const SCALE_FROM_SHARE = 0.9
const SCALE_UNTIL_SHARE = 0.2
/**
 * The service answers after 100 ms, so one forwarder delivers 80 batches per second: limited by that time, not by
 * this machine.
 */
const SCALE_CONCURRENCY = 8
const POLL_MS = 5
const TIMEOUT_MS = 120_000

/**
 * An application logs through its worker, to the sink or into the queue.
 *
 * @param {{ url: string, queue: Queue | undefined, records: number }} run
 * @returns {Promise<import('../cost/app.mjs').CostRun & { serversUs?: number }>}
 */
export async function publish({ url, queue, records }) {
  const { dir, clean } = scratchFolder()
  try {
    /** @type {import('../cost/app.mjs').CostPlan} */
    const plan = {
      recipe: { kind: 'shape', shape: 'http' },
      records,
      warmUp: WARM_UP_RECORDS,
      options: { ...(queue === undefined ? { url } : { nats: queue.option }), spool: { dir } },
    }
    return await start(APP, [JSON.stringify(plan)]).first
  } finally {
    clean()
  }
}

/**
 * An application logs, to the sink or into the queue, from which one forwarder delivers to the sink at the same time. Measured from
 * the end of the application's warm-up until the last batch is delivered.
 *
 * @param {{ sink: Sink, url: string, queue: Queue | undefined, records: number }} run
 */
export async function deliver({ sink, url, queue, records }) {
  await sink.ask('reset')
  const forwarder = queue && startForwarder(queue, url)
  try {
    const published = publish({ url, queue, records })
    const warm = await received(sink, WARM_UP_BATCHES)
    const from = { serversUs: queue?.cpuUs() ?? 0, forwardUs: forwarder?.cpuUs() ?? 0 }
    const run = await published
    if (queue !== undefined) await drained(queue, 0)
    const { requests, lastAt } = await sink.ask('seen')
    const entries = (records * (requests - warm.requests)) / (requests - WARM_UP_BATCHES)
    return {
      ...run,
      deliveredPerSecond: (entries / (lastAt - warm.lastAt)) * 1_000,
      ...(queue && { serversUs: (queue.cpuUs() - from.serversUs) / entries }),
      ...(forwarder && { forwardUs: (forwarder.cpuUs() - from.forwardUs) / entries }),
    }
  } finally {
    await forwarder?.stop()
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
 * @param {{ queue: Queue, sink: Sink, url: string }} run
 */
export async function takeUp({ queue, sink, url }) {
  await sink.ask('reset')
  const startedAt = Date.now()
  const forwarder = startForwarder(queue, url)
  try {
    return (await received(sink, 1)).firstAt - startedAt
  } finally {
    await forwarder.stop()
  }
}

/** Waits for a number of requests. @param {Sink} sink @param {number} requests */
async function received(sink, requests) {
  const endsAt = performance.now() + TIMEOUT_MS
  for (;;) {
    const seen = await sink.ask('seen')
    if (seen.requests >= requests) return seen
    if (performance.now() > endsAt) throw new Error(`${seen.requests} requests within ${TIMEOUT_MS / 1000} s`)
    await sleep(POLL_MS)
  }
}
