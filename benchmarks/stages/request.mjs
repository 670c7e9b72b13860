/** Sends batches to the sink with the transport's own client: the cost of a request on the client's side. */
import { setMaxListeners } from 'node:events'
import { createHttp } from '../../build/modules/client/http.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { createIngestSender } from '../../build/modules/delivery/ingest-sender.js'
import { cpuUs } from '../tools/measure.mjs'
import { batchesOf } from './batches.mjs'
import { SETTINGS } from './configured.mjs'

/** @typedef {import('../../src/batch/batch.js').Batch} Batch */

/** Requests in flight, by pass. */
const CONCURRENCIES = Object.entries({ request: 4, 'request: 32 in flight': 32 })
/** A few hundred requests take too little time to measure. */
const REPEATS = 3

/** @param {readonly import('../tools/shapes.mjs').Line[]} lines @param {string} url */
export async function passesOfRequest(lines, url) {
  const batches = batchesOf(lines).map(({ batch }) => batch)
  /** @type {Record<string, number>} */
  const passes = {}
  for (const [name, concurrency] of CONCURRENCIES) passes[name] = await sendAll(batches, url, concurrency)
  return passes
}

/** @param {readonly Batch[]} batches @param {string} url @param {number} concurrency */
async function sendAll(batches, url, concurrency) {
  const http = createHttp({ ...SETTINGS, url, maxConnections: concurrency })
  const sender = createIngestSender({ http, clock: systemClock })
  const { signal } = new AbortController()
  setMaxListeners(0, signal) // each request in flight adds a listener
  const send = async (/** @type {Batch} */ batch) => {
    const outcome = await sender.send(batch, signal)
    if (outcome.kind !== 'delivered') throw new Error(`the sink did not accept a batch: ${JSON.stringify(outcome)}`)
  }
  // Connections are opened once and kept, so opening them is not part of the cost of a record.
  await Promise.all(batches.slice(0, concurrency).map(send))
  const from = process.cpuUsage()
  const waiting = Array.from({ length: REPEATS }, () => batches)
    .flat()
    .values()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const batch of waiting) await send(batch)
    }),
  )
  const us = cpuUs(from) / REPEATS
  await http.close()
  return us
}
