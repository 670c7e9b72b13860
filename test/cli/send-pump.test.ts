/** Slices to a service that is scripted: no more is asked for than is sent, and a stop is a stop. */
import { expect, test } from 'vitest'
import type { Slice } from '../../src/cli/send/cutter.js'
import { Pump } from '../../src/cli/send/pump.js'
import type { Job, Owner } from '../../src/cli/send/pump.js'
import type { DeadLetter, Outcome } from '../../src/batch/sender.js'
import { FakeClock, settled } from '../fake-clock.js'

/** A way that answers when it is told to. */
class ScriptedWay {
  limit = 1
  trouble: string | undefined
  hurried = 0
  onRoom: (listener: () => void) => void = (listener) => (this.room = listener)
  room: () => void = () => {}
  readonly #answers = new Map<string, (outcome: Outcome) => void>()

  get underWay(): string[] {
    return [...this.#answers.keys()]
  }

  send({ batchId }: { readonly batchId: string }): Promise<Outcome> {
    return new Promise((resolve) => this.#answers.set(batchId, resolve))
  }

  async answer(batchId: string, outcome: Outcome = { kind: 'delivered', accepted: 1, rejected: [] }): Promise<void> {
    this.#answers.get(batchId)?.(outcome)
    this.#answers.delete(batchId)
    await settled()
    await settled()
  }

  abort(): void {
    for (const batchId of this.underWay) void this.answer(batchId, { kind: 'given-up', reason: 'aborted' })
  }

  hurry(): void {
    this.hurried += 1
  }
}

function sliceOf(name: string): Slice {
  const batch = { batchId: name, count: 1, highestSeverity: 0, body: Buffer.from('x') }
  return { start: 0, end: 1, filtered: 0, ...(name.startsWith('empty') ? {} : { batch }) }
}

interface Scene {
  readonly way: ScriptedWay
  readonly clock: FakeClock
  readonly pump: Pump
  readonly asked: string[]
  readonly settledNames: string[]
  readonly letters: DeadLetter[][]
  readonly run: Promise<void>
}

function start(
  names: readonly string[],
  {
    limit = 1,
    onSettle = () => {},
    ending = () => Promise.resolve(undefined),
  }: {
    limit?: number
    onSettle?: (name: string) => void
    ending?: () => Promise<undefined>
  } = {},
): Scene {
  const way = new ScriptedWay()
  way.limit = limit
  const clock = new FakeClock()
  const pump = new Pump({ way, clock })
  const asked: string[] = []
  const settledNames: string[] = []
  const letters: DeadLetter[][] = []
  const left = [...names]
  const next = (): Promise<Job | undefined> => {
    const name = left.shift()
    if (name === undefined) return ending()
    asked.push(name)
    const owner: Owner = {
      settle: (_slice, outcome) => {
        onSettle(name)
        settledNames.push(outcome?.kind === 'given-up' ? `${name} given up` : name)
      },
      setAside: (more) => void letters.push([...more]),
    }
    return Promise.resolve({ slice: sliceOf(name), owner })
  }
  const run = pump.run(next)
  run.catch(() => {}) // each test looks at it in its time
  return { way, clock, pump, asked, settledNames, letters, run }
}

test('one at a time, and one more is made meanwhile', async () => {
  const { way, asked, settledNames, run } = start(['a', 'b', 'c'])
  await settled()
  await settled()
  expect({ asked, sent: way.underWay }).toEqual({ asked: ['a', 'b'], sent: ['a'] })
  await way.answer('a')
  expect({ asked, sent: way.underWay }).toEqual({ asked: ['a', 'b', 'c'], sent: ['b'] })
  await way.answer('b')
  await way.answer('c')
  await run
  expect(settledNames).toEqual(['a', 'b', 'c'])
})

test('as many at once as the way takes, in any order; a batch that waits makes room for another', async () => {
  const { way, settledNames, run } = start(['a', 'b', 'c', 'd'], { limit: 2 })
  await settled()
  await settled()
  await settled()
  expect(way.underWay).toEqual(['a', 'b'])
  way.limit = 3
  way.room()
  await settled()
  expect(way.underWay).toEqual(['a', 'b', 'c'])
  await way.answer('c')
  await way.answer('b')
  expect(way.underWay).toEqual(['a', 'd'])
  await way.answer('d')
  await way.answer('a')
  await run
  expect(settledNames).toEqual(['c', 'b', 'd', 'a'])
})

test('what holds nothing to send is settled in its turn; nothing at all is the end', async () => {
  const { settledNames, run, way } = start(['empty 1', 'empty 2', 'a', 'empty 3'])
  while (way.underWay.length === 0) await settled()
  await way.answer('a')
  await run
  expect(settledNames).toEqual(['empty 1', 'empty 2', 'a', 'empty 3'])
  await start([]).run
})

test('once all is under way, those who wait for news of others are told', async () => {
  const { way, pump, run } = start(['a'])
  await settled()
  await settled()
  expect({ hurried: way.hurried, isExhausted: pump.isExhausted, underWay: pump.underWay }).toEqual({
    hurried: 1,
    isExhausted: true,
    underWay: 1,
  })
  await way.answer('a')
  await run
})

test('a stop waits for the reply to what is under way, and sends nothing more', async () => {
  const { way, pump, settledNames, run } = start(['a', 'b', 'c'])
  await settled()
  pump.stop(false)
  await settled()
  expect(way.underWay).toEqual(['a'])
  await way.answer('a')
  await run
  expect(settledNames).toEqual(['a'])
})

test.each([
  ['a second later', false, 1_000, undefined],
  ['at once when asked twice', true, 0, undefined],
  ['at once while the service fails', false, 0, 'down'],
])('a stop gives up what is not answered %s', async (_when, isAtOnce, waitMs, trouble) => {
  const { way, clock, pump, settledNames, run } = start(['a', 'b'])
  await settled()
  way.trouble = trouble
  pump.stop(isAtOnce)
  await clock.advance(waitMs)
  await run
  expect(settledNames).toEqual(['a given up'])
  expect(clock.timers).toBe(0)
})

test('a stop ends it though the next slice never comes', async () => {
  const { way, pump, run } = start(['a'], { ending: () => new Promise(() => {}) })
  await settled()
  await way.answer('a')
  pump.stop(false)
  await run
})

test('what cannot be recorded ends it, with the reason', async () => {
  const { way, run, asked } = start(['a', 'b', 'c', 'd'], {
    onSettle: (name) => {
      if (name === 'b') throw new Error('ENOSPC')
    },
  })
  await settled()
  await way.answer('a')
  await way.answer('b')
  await expect(run).rejects.toThrow('ENOSPC')
  expect(asked).toEqual(['a', 'b', 'c'])
})

test('a bug in what is asked ends it, too', async () => {
  await expect(start(['a'], { ending: () => Promise.reject(new Error('bug')) }).run).rejects.toThrow('bug')
})

test('what was refused goes to the file that it is of', async () => {
  const { way, pump, letters, run } = start(['a'])
  await settled()
  const letter: DeadLetter = { batchId: 'a', index: 0, status: 422, code: '', field: '', reason: 'no', entry: '{}' }
  pump.setAside([letter])
  expect(letters).toEqual([[letter]])
  expect(() => pump.setAside([{ ...letter, batchId: 'x' }])).toThrow('of a batch that nobody sent')
  await way.answer('a')
  await run
})
