/** `ingest:stats` is emitted while lines arrive, even without requests and replies, and at most once per second. */
import { expect, onTestFinished, test } from 'vitest'
import type { AccountSnapshot } from '../../src/diagnostics/account.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { FakeClock } from '../fake-clock.js'
import { lineOf } from './create-pipeline.js'

/** A pipeline without a service, on a fake clock. */
function stopped(): {
  write: (level: number) => void
  clock: FakeClock
  reported: { atMs: number; account: AccountSnapshot }[]
  pipeline: Pipeline
} {
  const clock = new FakeClock()
  const reported: { atMs: number; account: AccountSnapshot }[] = []
  const settings = resolveOptions(
    { url: 'http://127.0.0.1:9/api/v1', apiKey: 'stats-key', spool: false, logTo: 'silent', shutdownTimeoutMs: 0 },
    { env: {}, readFile: () => '' },
  )
  const pipeline = new Pipeline({
    settings,
    clock,
    emit: (name, payload) => {
      if (name === 'ingest:stats') reported.push({ atMs: clock.now(), account: payload as AccountSnapshot })
    },
  })
  onTestFinished(() => pipeline.abandon())
  return { clock, reported, pipeline, write: (level) => pipeline.records.write(`${lineOf({ level, msg: 'm' })}\n`) }
}

test.each([
  ['filtered', 20],
  ['pending', 30],
] as const)('is emitted every second with current values if all lines are %s', async (outcome, level) => {
  const { write, clock, reported } = stopped()
  for (let n = 0; n < 25; n += 1) {
    write(level)
    await clock.advance(100)
  }
  expect(reported.map(({ atMs, account }) => [atMs, account.received, account[outcome], account.balances])).toEqual([
    [0, 1, 1, true],
    [1000, 10, 10, true],
    [2000, 20, 20, true],
  ])
  await clock.advance(500)
  expect(reported.at(-1)).toMatchObject({ atMs: 3000, account: { received: 25, [outcome]: 25 } })
})

test('a throttled report has the latest values', async () => {
  const { write, clock, reported, pipeline } = stopped()
  write(20)
  write(20)
  pipeline.account.generated += 1
  pipeline.account.filtered += 1
  await clock.advance(1_000)
  expect(reported.map(({ account }) => account.generated)).toEqual([0, 1])
})

test('is not emitted without lines', async () => {
  const { write, clock, reported } = stopped()
  await clock.advance(10_000)
  expect(reported).toEqual([])
  write(20)
  await clock.advance(60_000)
  expect(reported.length).toBe(1)
})
