/** The replay of a destination, with instances of processes on a fake clock. */
import { utimesSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Batch } from '../../../src/batch/batch.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { DestinationReplay } from '../../../src/cli/spool/destination-replay.js'
import { Problems } from '../../../src/cli/spool/problems.js'
import { resolveOptions } from '../../../src/options/resolve-options.js'
import { KeyPause } from '../../../src/shared/key-pause.js'
import { inspectRoot } from '../../../src/spool/inspect.js'
import { FakeClock } from '../../fake-clock.js'
import { filesBelow } from '../../spool/disk-image.js'
import type { ProcessRun } from '../../spool/process-run.js'
import { namesIn, useSpoolBench } from '../../spool/spool-bench.js'

const TIMEOUT_MS = 60_000
const bench = useSpoolBench()

function write(run: ProcessRun, ...names: string[]): void {
  for (const name of names) run.add(JSON.stringify({ name }))
  run.batcher.seal()
}

/** A replay of all free instances. */
function replayAll(answer: (batch: Batch) => Outcome) {
  const { root, clock, destination } = bench
  const machine = bench.processes.born()
  const problems = new Problems()
  const target = { sender: { send: (batch: Batch) => Promise.resolve(answer(batch)) } }
  const replay = new DestinationReplay({
    location: { root, machine, kinds: new Map(), mask: (text) => text },
    name: basename(destination),
    settings: resolveOptions({ url: 'http://127.0.0.1:1/api/v1', apiKey: 'k' }, { env: {}, readFile: () => '' }),
    service: {
      entries: target,
      requestLogs: target,
      prepare: () => {},
      close: () => Promise.resolve(),
      onMaxBodyBytes: () => {},
    },
    pause: new KeyPause(clock),
    clock,
    deadlineAt: clock.now() + TIMEOUT_MS,
    problems,
  })
  for (const { instances } of inspectRoot(root, { machine, wallNowMs: Date.now() }))
    for (const found of instances) if (found.isFree) replay.addInstance(found)
  return { replay, problems }
}

const accept = ({ count }: Batch): Outcome => ({ kind: 'delivered', accepted: count, rejected: [] })

test('it waits until an owner that is unaware of the claim can no longer write, and sends everything', async () => {
  const machine = bench.processes.born()
  const elsewhere = { ...machine, self: { ...machine.self, namespace: 'another' } }
  // Its clock does not advance: the owner assumes that its lease is valid.
  const owner = bench.begin({}, { machine: elsewhere, clock: new FakeClock(Date.now()) })
  write(owner, 'a')
  owner.add(JSON.stringify({ name: 'b' }))
  owner.batcher.commit()
  const seconds = (Date.now() - 31_000) / 1_000
  for (const path of filesBelow(bench.destination).filter((one) => one.endsWith('owner')))
    utimesSync(path, seconds, seconds)
  const sent: Batch[] = []
  const { replay, problems } = replayAll((batch) => {
    if (sent.length === 0) {
      owner.add(JSON.stringify({ name: 'c' }))
      owner.batcher.commit()
    }
    sent.push(batch)
    return accept(batch)
  })
  const running = replay.run()
  await vi.waitFor(async () => {
    await bench.clock.advance(5_000)
    expect(namesIn(sent)).toEqual(['a', 'b', 'c'])
  })
  await running
  expect([replay.account.accepted, replay.kept, problems.messages]).toEqual([3, 0, []])
})

test('it ends early if no attempt can follow before the deadline, and keeps what was not accepted', async () => {
  const first = bench.begin()
  write(first, 'a')
  write(first, 'b', 'c')
  bench.kill(first)
  const { replay } = replayAll((batch) =>
    namesIn([batch]).includes('a') ? accept(batch) : { kind: 'endpoint-rejected', status: 403, reason: 'status 403' },
  )
  let isDone = false
  const running = replay.run().then(() => (isDone = true))
  await vi.waitFor(async () => {
    await bench.clock.advance(1_000)
    expect(isDone).toBe(true)
  })
  await running
  expect(bench.clock.now()).toBeLessThan(TIMEOUT_MS / 2)
  expect([replay.account.accepted, replay.kept, replay.lastFailure]).toEqual([1, 2, 'status 403'])
})
