/** Each line is read once and in order. Long text is read in slices. Near a limit, low severities are dropped. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { DECLINED_RUN } from '../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../src/record/mapped-record.js'
import { RecordReader } from '../../src/pipeline/record-reader.js'
import { createRing } from '../record/create-ring.js'

interface Setup {
  /** The lowest admitted severity. */
  readonly admitted?: number
  readonly joinsLines?: boolean
}

function setup({ admitted = 0, joinsLines = false }: Setup = {}) {
  const account = new Account()
  const read: string[] = []
  const begun: string[] = []
  let refused = 0
  const reader = new RecordReader({
    isEnabled: true,
    endpoint: {
      account,
      admission: {
        threshold: admitted,
      },
      batcher: { freeEntries: 100, freeBytes: 100_000, add: (entry) => read.push(String(entry)) },
      recordNotAdmitted: (count) => {
        refused += count
      },
    },
    entryBuilder: {
      beginText: () => {},
      stops: 0,
      build: ({ text }) => {
        return Object.assign(new MappedRecord(), {
          json: text.slice(0, 8).trimEnd(),
          severity: 1,
        })
      },
    },
    mapper: { lines: createRing(), run: () => DECLINED_RUN, isRecord: () => true, startsWithLevel: () => true },
    onUnsupportedInput: () => {},
    joinsLines,
    onRead: () => {},
  })
  const add = (name: string, chars: number): void => reader.add(linesOf(name, chars), () => begun.push(name))
  return { account, read, begun, reader, add, refused: () => refused }
}

/** Lines of 1,000 characters each. */
function linesOf(name: string, chars: number): string {
  return Array.from({ length: Math.ceil(chars / 1_000) }, (_, n) => `${name}${n} `.padEnd(999, '.') + '\n').join('')
}

const namesOf = (name: string, chars: number): string[] =>
  Array.from({ length: Math.ceil(chars / 1_000) }, (_, n) => `${name}${n} .......`.slice(0, 8))

test('reads a short text synchronously, but after a pending long one', async () => {
  const { read, begun, add } = setup()
  add('a', 1_000)
  expect(read).toEqual(namesOf('a', 1_000))
  add('b', 600_000)
  add('c', 1_000)
  expect(read.length).toBeLessThan(600)
  while (read.length < 602) await turn()
  expect(begun).toEqual(['a', 'b', 'c'])
  expect(read).toEqual([...namesOf('a', 1_000), ...namesOf('b', 600_000), ...namesOf('c', 1_000)])
})

test('yields to the event loop while it reads a long text', async () => {
  const { read, add } = setup()
  add('a', 900_000)
  const after: number[] = []
  while (read.length < 900) {
    after.push(read.length)
    await turn()
  }
  expect(after.length).toBeGreaterThanOrEqual(3)
  expect(read).toEqual(namesOf('a', 900_000))
})

test('finish() reads all pending text; later text is sliced again', async () => {
  const { read, begun, reader, add } = setup()
  add('a', 2_000_000)
  add('b', 700_000)
  reader.finish()
  expect(read).toHaveLength(2_700)
  expect(begun).toEqual(['a', 'b'])
  add('c', 700_000)
  expect(read.length).toBeLessThan(3_400)
  while (read.length < 3_400) await turn()
})

test('finish() does not read text added meanwhile', async () => {
  const { read, reader, add } = setup()
  let more = 0
  const next = (): void => {
    more += 1
    if (more < 50) reader.add(linesOf('m', 300_000), next)
  }
  add('a', 300_000)
  reader.add(linesOf('b', 300_000), next)
  reader.finish()
  expect(read).toHaveLength(600)
  while (read.length < 600 + 49 * 300) await turn()
  expect(more).toBe(50)
})

test('reads a last line without a newline at the end', () => {
  const { read, account, reader } = setup()
  reader.write('one\ntw')
  reader.write('o')
  reader.end()
  expect(read).toEqual(['one', 'two'])
  expect(account.received).toBe(2)
})

test.each([
  [false, ['a', '  b', 'c', '  d', '  e'], 5],
  [true, ['a\n  b', 'c\n  d', '  e'], 3],
])('with `joinsLines: %s`, up to a flush or the end', (joinsLines, expected, count) => {
  const { read, account, reader } = setup({ joinsLines })
  reader.write('a\n  b\nc\n')
  reader.write('  d\n')
  reader.flushLines()
  reader.write('  e')
  reader.end()
  expect(read.map((text) => text.trimEnd())).toEqual(expected)
  expect(account.received).toBe(count)
})

test('near a limit, entries below the admitted severity are refused', () => {
  const { account, read, reader, refused } = setup({ admitted: 2 })
  reader.write(linesOf('a', 1_000_000))
  expect(read).toEqual([])
  expect([account.received, refused()]).toEqual([1_000, 1_000])
})
