import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { Settlement } from '../../src/delivery/settlement.js'
import { Admission } from '../../src/pipeline/admission.js'
import { Batcher } from '../../src/pipeline/batcher.js'
import type { AccountSnapshot, DropReason } from '../../src/diagnostics/account.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { Signal } from '../../src/shared/signal.js'
import { DOWN, OK, UNAUTHORIZED, busyFor, nameless, setup } from '../delivery/setup.js'
import type { Request } from '../delivery/setup.js'

test('starts at zero and balances', () => {
  expect(new Account().snapshot()).toEqual({
    received: 0,
    recovered: 0,
    generated: 0,
    accepted: 0,
    rejected: 0,
    dropped: { buffer: 0, shutdown: 0, spool: 0, age: 0, damaged: 0 },
    filtered: 0,
    pending: 0,
    balances: true,
  })
})

describe('a count that is wrong by one', () => {
  const counters = ['received', 'recovered', 'generated', 'accepted', 'rejected', 'filtered'] as const
  test.each(counters)('of %s breaks the balance', (counter) => {
    const account = new Account()
    account[counter] += 1
    expect(account.snapshot().balances).toBe(false)
  })

  test('of dropped or pending entries breaks the balance', () => {
    const account = new Account()
    let pending = 0
    account.addStage(() => pending)
    account.dropped.buffer += 1
    expect(account.snapshot().balances).toBe(false)
    account.received += 1
    expect(account.snapshot().balances).toBe(true)
    pending = 1
    expect(account.snapshot()).toMatchObject({ pending: 1, balances: false })
  })
})

test('the equation in docs/metrics.md can be evaluated for a snapshot, and is what `balances` says', () => {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  const equation = /<!-- balance -->\n```\n(.+?)```/s.exec(page)?.[1] ?? ''
  const evaluate = (snapshot: AccountSnapshot): boolean =>
    runInNewContext(equation, { ...snapshot, dropped: { ...snapshot.dropped } }) as boolean
  const counters = ['received', 'recovered', 'generated', 'accepted', 'rejected', 'filtered'] as const
  const reasons = Object.keys(new Account().dropped) as DropReason[]
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }), (counts) => {
      const account = new Account()
      for (const counter of counters) account[counter] = counts.shift() as number
      for (const reason of reasons) account.dropped[reason] = counts.shift() as number
      account.addStage(() => counts.at(-1) as number)
      const snapshot = account.snapshot()
      expect(evaluate(snapshot)).toBe(snapshot.balances)
      const { accepted, rejected, filtered, pending, dropped } = snapshot
      account.received += accepted + rejected + filtered + pending
      account.received += reasons.reduce((sum, reason) => sum + dropped[reason], 0)
      account.received -= snapshot.received + snapshot.recovered + snapshot.generated
      expect([account.snapshot().balances, evaluate(account.snapshot())]).toEqual([true, true])
    }),
  )
})

type Step =
  | { readonly do: 'log'; readonly entries: number; readonly rank: number; readonly bytes: number }
  | { readonly do: 'seal' | 'drain' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'reply'; readonly which: number; readonly outcome: Outcome }

const rejected = [{ index: 0, code: 'VALIDATION_ERROR', field: 'level', message: 'no' }]
const outcome = fc.constantFrom<Outcome>(
  OK,
  DOWN,
  busyFor(2),
  UNAUTHORIZED,
  { kind: 'delivered', accepted: 0, rejected },
  nameless(422),
  { kind: 'retryable', reason: 'network' },
)
const log = fc.record({
  do: fc.constant('log' as const),
  entries: fc.integer({ min: 1, max: 40 }),
  rank: fc.nat(4),
  bytes: fc.nat(200),
})
const ms = fc.constantFrom(1, 100, 1000, 5000, 70_000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: log },
  { weight: 40, arbitrary: fc.record({ do: fc.constant('reply' as const), which: fc.nat(7), outcome }) },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('wait' as const), ms }) },
  { weight: 10, arbitrary: fc.constant({ do: 'seal' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'drain' as const }) },
)

test('balances after every step of any sequence, from the first entry to the end of the drain', async () => {
  const seen = { accepted: 0, rejected: 0, buffer: 0, shutdown: 0, filtered: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      async (steps, maxConcurrency) => {
        const service = setup(() => undefined, { maxConcurrency, maxBufferBytes: 8000 })
        const { clock, requests, account, scheduler } = service
        const settlement = new Settlement({ ...service, events: new Signal() })
        const batcher = new Batcher({
          batch: { size: 10, intervalMs: 1000 },
          clock,
          onBatch: (batch) => scheduler.enqueue(batch),
        })
        batcher.limitBytes(2000)
        const admission = new Admission({ memory: scheduler })
        account.addStage(() => batcher.pendingEntries)
        const answered = new Set<Request>()
        const replyTo = (which: number, reply: Outcome) => {
          const open = requests.filter((request) => !answered.has(request))
          const request = open[which % Math.max(open.length, 1)]
          if (request === undefined) return
          answered.add(request)
          request.end(reply)
        }
        const check = () => expect(account.snapshot()).toMatchObject({ balances: true })

        for (const one of steps) {
          switch (one.do) {
            case 'log':
              for (let n = 0; n < one.entries; n++) {
                account.received += 1
                if (one.rank < admission.threshold) settlement.notAdmitted(admission.reason, 1)
                else if (one.rank === 0 && n % 2 === 0) account.filtered += 1
                else batcher.add(JSON.stringify('x'.repeat(one.bytes)), one.rank)
                check()
              }
              break
            case 'seal':
              batcher.seal()
              break
            case 'reply':
              replyTo(one.which, one.outcome)
              break
            case 'wait':
              await clock.advance(one.ms)
              break
            case 'drain':
              void scheduler.drain(3000, () => 'lost')
          }
          check()
          await clock.advance(0)
          check()
          // Each part of a divided batch costs another KiB, until the next batch is added.
          expect(scheduler.usedShare).toBeLessThanOrEqual(1.5)
        }
        batcher.seal()
        const drained = scheduler.drain(3000, () => 'lost')
        await clock.advance(3100)
        await drained
        const end = account.snapshot()
        expect(end).toMatchObject({ pending: 0, balances: true })
        seen.accepted += end.accepted
        seen.rejected += end.rejected
        seen.filtered += end.filtered
        seen.buffer += end.dropped.buffer
        seen.shutdown += end.dropped.shutdown
      },
    ),
    { numRuns: 150 },
  )
  // Every outcome occurred, so none is left unchecked.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})
