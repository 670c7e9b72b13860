/**
 * Two hours of logs of a small shop, identical on every run, for tests and screenshots of the page. Sent over HTTP like an application
 * does. A clock that can be set spreads records whose time the service sets (releases, heartbeats).
 */
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { Feedback, Release, RequestLog } from '../../src/protocol/resources.js'
import type { ServiceClock } from '../../src/service/index.js'
import { call } from '../service/support.js'
import { aroundCardDeclined, cardDeclined, noCarrier, noTotal, orderTrace, poolExhausted } from './seed-entries.js'

const MINUTE_MS = 60_000
const LENGTH_MS = 120 * MINUTE_MS
const BATCH = 100
/** Time of the second release, which causes the errors. */
const DEPLOYED_MS = 70 * MINUTE_MS

/** Follows the system clock until another time is set. */
export class SetClock implements ServiceClock {
  #wallMs: number | undefined

  now(): number {
    return performance.now()
  }

  wallNow(): number {
    return this.#wallMs ?? Date.now()
  }

  /** @param wallMs undefined follows the system clock again */
  set(wallMs: number | undefined): void {
    this.#wallMs = wallMs
  }
}

/** Sends all records. @param clock the service's clock; restored afterwards */
export async function seed(url: string, clock: SetClock, endMs = Date.now()): Promise<void> {
  const startMs = endMs - LENGTH_MS
  const random = randomFrom(42)
  const releaseIds: string[] = []
  let entries = 0
  let sequence = 0
  const chance = (ratio: number): boolean => random() < ratio
  let logs: LogEntry[] = []
  let requests: RequestLog[] = []
  const send = async (): Promise<void> => {
    for (; logs.length > 0; logs = logs.slice(BATCH)) {
      const batch = logs.slice(0, BATCH)
      await post(url, 'ingest', { batch_id: `shop-${(sequence += 1)}`, logs: batch })
      entries += batch.length
    }
    if (requests.length > 0) await post(url, 'ingest/requests', { requests })
    requests = []
  }

  for (let minute = 0; minute < 120; minute += 1) {
    const minuteMs = startMs + minute * MINUTE_MS
    clock.set(minuteMs)
    if (minute === 10 || minute * MINUTE_MS === DEPLOYED_MS) {
      const release = RELEASES[releaseIds.length] as Release
      releaseIds.push(String(((await post(url, 'releases/register', release)) as { release_id: unknown }).release_id))
    }
    const isNew = minute * MINUTE_MS >= DEPLOYED_MS
    const about = {
      environment: 'production',
      version: isNew ? '2.7.0' : '2.6.0',
      ...(releaseIds.length > 0 && { release_id: releaseIds.at(-1) as string }),
    }
    const count = Math.round(4 + 3 * Math.sin(minute / 9) + (isNew ? 3 : 0) + random() * 3)
    for (let n = 0; n < count; n += 1) {
      const atMs = minuteMs + Math.floor(((n + random()) / count) * MINUTE_MS)
      const fails = chance(isNew ? 0.22 : 0.05)
      const one = orderTrace({ atMs, order: 1000 + entries + logs.length, random, isFailing: fails })
      logs.push(...one.logs.map((entry) => ({ ...about, ...entry })))
      requests.push(...one.requests)
      if (chance(0.06)) logs.push({ ...about, ...noTotal(atMs + 40, random) })
    }
    if (minute % 15 === 4)
      logs.push(
        { ...about, ...noCarrier(minuteMs + 31_000) },
        { ...about, environment: 'staging', ...noTotal(minuteMs + 32_000, random) },
      )
    if (minute === 96) logs.push({ ...about, ...poolExhausted(minuteMs + 12_400) })
    await send()
    if (minute % 5 === 0) await post(url, 'heartbeat/nightly-backup-token', undefined, { name: 'nightly backup' })
    if (minute % 10 === 2) await post(url, 'heartbeat/invoice-run-token')
    // This monitor stops after an hour, and is late from then on.
    if (minute % 4 === 1 && minute < 60)
      await post(url, 'heartbeat/stock-sync-token', undefined, { name: 'stock sync' })
  }
  clock.set(endMs - 2 * MINUTE_MS)
  const atMs = endMs - 2 * MINUTE_MS
  const about = {
    environment: 'production',
    version: '2.7.0',
    ...(releaseIds[1] !== undefined && { release_id: releaseIds[1] }),
  }
  logs.push(...[...aroundCardDeclined(atMs), cardDeclined(atMs)].map((entry) => ({ ...about, ...entry })))
  await send()
  for (const feedback of FEEDBACK) await post(url, 'feedback', feedback)
  await refuse(url, startMs)
  clock.set(undefined)
}

const RELEASES: readonly Release[] = [
  {
    version: '2.6.0',
    commit_hash: '9b1c5e0f4a7d2c38e61f0b9a4d5c6e7f80912a3b',
    branch: 'main',
    deployed_by: 'ada',
    changelog: 'Faster search.',
  },
  {
    version: '2.7.0',
    commit_hash: '41d0aa97c3be5f2d1e8a6b7c9d0e1f2a3b4c5d6e',
    branch: 'release/2.7',
    deployed_by: 'grace',
    changelog:
      '- Vouchers can be combined\n- Payments go through the new gateway\n- The cart shows when an item is about to sell out, and the delivery time of each carrier',
  },
]

const FEEDBACK: readonly Feedback[] = [
  {
    event_id: 'evt-card-declined',
    name: 'Jane Doe',
    email: 'jane@example.com',
    comments:
      'I clicked “Pay” twice, and the second time the page only said that something went wrong.\nMy card was charged once.',
  },
  { event_id: 'evt-nobody-knows', comments: 'The voucher from the newsletter does not work.' },
]

/** Sends invalid requests of every kind. */
async function refuse(url: string, atMs: number): Promise<void> {
  const timestamp = new Date(atMs).toISOString()
  const good = { level: 'info', message: 'order placed', timestamp }
  const request = { method: 'GET', path: '/', status_code: '200', duration_ms: 3, request_id: 'r', timestamp }
  const late = { ...good, timestamp: '31/01/2026 08:00' }
  const unnamed = { level: 'info', msg: 'started', timestamp }
  for (const [path, body] of [
    ['ingest', { batch_id: 'nightly-import-7', logs: [good, { ...good, level: 'warning' }, late] }],
    ['ingest', { batch_id: 'legacy-agent', logs: [unnamed, { ...good, user: 'u-42' }] }],
    ['ingest/requests', { requests: [request] }],
  ] as const)
    await post(url, path, body, { status: 422 })
}

async function post(
  url: string,
  path: string,
  body?: unknown,
  { status = 200, name }: { readonly status?: number; readonly name?: string } = {},
): Promise<unknown> {
  const answer = await call(`${url}/${path}`, {
    body,
    ...(name !== undefined && { headers: { 'x-monitor-name': name } }),
  })
  if (answer.status !== status) throw new Error(`${path} was answered ${answer.status}, not ${status}: ${answer.text}`)
  return answer.json
}

/** A seeded random generator of numbers from 0 to 1 (mulberry32), which makes every run identical. */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
