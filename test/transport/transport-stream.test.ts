/** The stream before its pipeline exists: pino's configuration may arrive after the first lines. */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Pipeline } from '../../src/pipeline/pipeline.js'
import { systemClock } from '../../src/shared/clock.js'
import { TransportStream } from '../../src/transport/transport-stream.js'

const LINES = Array.from({ length: 1_000 }, (_, n) => `{"msg":"${n}"}\n`)

/** Reads like `RecordReader`: requests more before it has read. */
function recorder() {
  const calls: string[] = []
  const waiting: { text: string; onBegun: () => void }[] = []
  const read = (): void => {
    calls.push(waiting[0]?.text as string)
    waiting.shift()
    waiting[0]?.onBegun()
    if (waiting.length > 0) setImmediate(read)
  }
  const pipeline = {
    records: {
      add(text: string, onBegun: () => void) {
        waiting.push({ text, onBegun })
        if (waiting.length > 1) return
        onBegun()
        read()
      },
      write: (text: string) => void (text === '' || calls.push(text)),
      finish: () => {},
    },
    endInput: () => calls.push('end'),
    flush: async () => void calls.push('flush'),
    setReleaseId: (id: string) => calls.push(id),
    close: async () => void calls.push('close'),
  }
  return { calls, pipeline: pipeline as unknown as Pipeline }
}

test('passes earlier writes and calls to the pipeline in order, in the same tick', async () => {
  const { calls, pipeline } = recorder()
  const stream = new TransportStream({ clock: systemClock, isWorker: true })
  for (const line of LINES) stream.write(line)
  stream.flush(() => calls.push('flushed'))
  await turn()
  expect(calls).toEqual([])
  stream.connect(pipeline)
  expect(calls).toEqual([...LINES, 'flush'])
  await turn()
  expect(calls.slice(LINES.length)).toEqual(['flush', 'flushed'])
})

test.each([true, false])('an end before the pipeline exists loses nothing (worker: %s)', async (isWorker) => {
  const { calls, pipeline } = recorder()
  const stream = new TransportStream({ clock: systemClock, isWorker })
  for (const line of LINES) stream.write(line)
  stream.end()
  await turn()
  expect(calls).toEqual([])
  stream.connect(pipeline)
  await once(stream, 'close')
  expect(calls.slice(0, LINES.length + 2)).toEqual([...LINES, 'end', 'close'])
})
