/** The replay of a destination, with instances of processes on a fake clock. */
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { Batch } from '../../../src/batch/batch.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { DestinationReplay } from '../../../src/cli/spool/destination-replay.js'
import { Problems } from '../../../src/cli/spool/destination-replay.js'
import { resolveOptions } from '../../../src/options/resolve-options.js'
import { KeyPause } from '../../../src/shared/key-pause.js'
import { inspectRoot } from '../../../src/spool/inspect.js'
import { FakeClock } from '../../fake-clock.js'
import { simulateFullVolume } from '../../spool/disk-faults.js'
import { filesBelow, segmentsBelow } from '../../spool/disk-image.js'
import type { ProcessRun } from '../../spool/process-run.js'
import { namesIn, useSpoolBench } from '../../spool/spool-bench.js'

const TIMEOUT_MS = 60_000
const PATIENCE = { timeout: 20_000 }
const bench = useSpoolBench()

function write(run: ProcessRun, ...names: string[]): void {
  for (const name of names) run.add(JSON.stringify({ name }))
  run.batcher.seal()
}

/** A replay of all free instances, and of all dead letters. */
function replayAll(answer: (batch: Batch) => Outcome) {
  const { root, clock, destination } = bench
  const machine = bench.processes.born()
  const problems = new Problems()
  const target = { send: (batch: Batch) => Promise.resolve(answer(batch)) }
  const replay = new DestinationReplay({
    location: { root, machine, kindOf: () => 'entries', mask: (text) => text },
    name: basename(destination),
    settings: resolveOptions(
      { url: 'http://127.0.0.1:1/api/v1', apiKey: 'k', batch: { size: 1 } },
      { env: {}, readFile: () => '' },
    ),
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
  for (const { instances, deadLetters } of inspectRoot(root, { machine, wallNowMs: Date.now() })) {
    for (const found of instances) if (found.isFree) problems.attempt(() => replay.addInstance(found))
    for (const file of deadLetters) replay.addDeadLetters(file)
  }
  return { replay, problems }
}

const accept = ({ count }: Batch): Outcome => ({ kind: 'delivered', accepted: count, rejected: [] })

const acceptOnly =
  (name: string) =>
  (batch: Batch): Outcome =>
    namesIn([batch]).includes(name) ? accept(batch) : { kind: 'endpoint-rejected', status: 403, reason: 'status 403' }

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
  }, PATIENCE)
  await running
  expect([replay.account.accepted, replay.kept, problems.messages]).toEqual([3, 0, []])
})

function writeLetters(...names: string[]): void {
  mkdirSync(join(bench.destination, 'dead'), { recursive: true })
  const lines = names.map((name) => `${JSON.stringify({ at: '2026-01-01', batch_id: 'b', entry: { name } })}\n`)
  writeFileSync(join(bench.destination, 'dead', 'one.ndjson'), lines.join(''))
}

function lettersLeft(): string[] {
  return filesBelow(bench.destination).filter((path) => path.endsWith('.ndjson'))
}

async function runToEnd(replay: DestinationReplay): Promise<void> {
  let isDone = false
  const running = replay.run().then(() => (isDone = true))
  await vi.waitFor(async () => {
    await bench.clock.advance(1_000)
    expect(isDone).toBe(true)
  }, PATIENCE)
  await running
}

describe.each([
  ['blocks', true],
  ['inodes', false],
])('a volume without free %s', (_, blocks) => {
  test('instances and dead letters are sent and deleted', async () => {
    const runs = [bench.begin(), bench.begin(), bench.begin()]
    for (const run of runs) write(run, 'a', 'b')
    for (const [at, run] of runs.entries()) (at === 1 ? bench.kill : bench.close)(run)
    writeLetters('c')
    bench.inject(simulateFullVolume(bench.root, { blocks }))
    const sent: Batch[] = []
    const { replay, problems } = replayAll((batch) => {
      sent.push(batch)
      return accept(batch)
    })
    await runToEnd(replay)
    expect(namesIn(sent).toSorted()).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'c'])
    expect([replay.account.accepted, replay.kept, problems.messages]).toEqual([7, 0, []])
    expect([...segmentsBelow(bench.root), ...lettersLeft()]).toEqual([])
  })
})

test('dead letters that are kept keep their age', async () => {
  writeLetters('a', 'b')
  const [path = ''] = lettersLeft()
  const writtenAt = Math.trunc(Date.now() / 1_000) - 86_400
  utimesSync(path, writtenAt, writtenAt)
  const { replay } = replayAll(acceptOnly('a'))
  await runToEnd(replay)
  expect([replay.account.accepted, replay.kept]).toEqual([1, 1])
  expect(lettersLeft().map((left) => statSync(left).mtimeMs)).toEqual([writtenAt * 1_000])
})
