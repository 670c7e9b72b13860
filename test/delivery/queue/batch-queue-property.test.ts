/**
 * Each batch is sent once for any sequence of operations. The disk is read from one position with everything after
 * it, so batches that are also in memory must be skipped.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SpilledBatches } from '../../../src/delivery/queue/spilled-queue.js'
import type { QueuedBatch } from '../../../src/delivery/queue/queued-batch.js'
import { BatchQueue } from '../../../src/delivery/queue/batch-queue.js'
import type { Batch, BatchAcknowledgement, SegmentPosition } from '../../../src/batch/batch.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { batchOf } from '../scripted-sender.js'
import { modelRuns } from '../../model-runs.js'

const KEPT: BatchAcknowledgement = { isDurable: true, createPart: () => KEPT, acknowledge: () => {} }

/** All batches in the order of writing. Waiting batches are read from one position, as `Spilled` does. */
class SequentialDisk implements SpilledBatches {
  readonly #written: Batch[] = []
  readonly #passed = new Set<number>()
  #from = 0
  batches = 0

  get hasMore(): boolean {
    return this.batches > 0
  }

  write(batchId: string): Batch & { readonly place: SegmentPosition } {
    const batch = { ...batchOf(batchId), place: { segment: 1, offset: this.#written.length }, acknowledgement: KEPT }
    this.#written.push(batch)
    return batch
  }

  push({ place }: { readonly place: SegmentPosition }): void {
    if (this.batches === 0) this.#restart(place)
    this.batches += 1
  }

  unshift({ place }: { readonly place: SegmentPosition }): void {
    this.#passed.delete(place.offset)
    this.#from = place.offset
    this.batches += 1
  }

  pass({ place: { offset } }: { readonly place: SegmentPosition }): void {
    this.#passed.add(offset)
  }

  async next(take: (batch: Batch) => void): Promise<boolean> {
    await settled()
    while (this.batches > 0) {
      const at = this.#from++
      const batch = this.#written[at]
      if (batch === undefined) throw new Error('nothing more is written, but batches wait')
      if (this.#passed.has(at)) continue
      this.batches -= 1
      take(batch)
      return true
    }
    return false
  }

  #restart({ offset }: SegmentPosition): void {
    this.#passed.clear()
    this.#from = offset
  }
}

type Step = 'stored' | 'loose' | 'send' | 'settle' | 'down' | 'up' | 'wait'
const STEPS: readonly Step[] = ['stored', 'stored', 'stored', 'loose', 'send', 'send', 'settle', 'down', 'up', 'wait']

test('each batch is sent once, and a flush waits for all batches before it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...STEPS), { minLength: 20, maxLength: 300 }),
      fc.constantFrom(1, 32),
      fc.constantFrom(6_000, 12_000, 40_000),
      async (steps, maxConcurrency, maxBufferBytes) => {
        const spilled = new SequentialDisk()
        const recovery = { hasMore: false, next: () => Promise.resolve(false) }
        let isDown = false
        const queue = new BatchQueue({
          maxBufferBytes,
          maxConcurrency,
          clock: new FakeClock(),
          disk: { spilled, recovery },
          isDown: () => isDown,
        })
        const sent: string[] = []
        const inFlight: QueuedBatch[] = []
        const lost: string[] = []
        const open = new Map<string, number>()
        let count = 0
        const inFlightBytes = (): number => inFlight.length * 2_000
        const send = (): void => {
          const held = queue.shift()
          if (held === undefined) return
          sent.push(held.batch.batchId)
          inFlight.push(held)
        }
        const settle = (): void => {
          const held = inFlight.shift()
          if (held === undefined) return
          queue.settled(held, 1)
          open.delete(held.batch.batchId)
        }
        for (const step of steps) {
          if (step === 'stored') {
            const name = `s${count++}`
            open.set(name, queue.watermark.durable)
            queue.push(spilled.write(name), inFlightBytes())
          } else if (step === 'loose')
            lost.push(...queue.push(batchOf(`l${count++}`), inFlightBytes()).map(({ batchId }) => batchId))
          else if (step === 'send' && !isDown) send()
          else if (step === 'settle') settle()
          else if (step === 'down') isDown = true
          else if (step === 'up' && isDown) {
            isDown = false
            queue.moveToBacklog()
          } else if (step === 'wait') await settled()
          const waiting = [...open]
            .filter(([name]) => !inFlight.some(({ batch }) => batch.batchId === name))
            .map(([, order]) => order)
          expect(queue.oldest.durable).toBeLessThanOrEqual(Math.min(...waiting, queue.watermark.durable))
        }
        isDown = false
        for (let turn = 0; turn < 500 && sent.length + lost.length < count; turn += 1) {
          queue.refill()
          await settled()
          send()
          settle()
        }
        expect(sent.length + lost.length).toBe(count)
        expect(new Set([...sent, ...lost]).size).toBe(count)
        if (maxConcurrency === 1) {
          const stored = sent.filter((name) => name.startsWith('s')).map((name) => Number(name.slice(1)))
          expect(stored).toEqual(stored.toSorted((a, b) => a - b))
        }
      },
    ),
    { numRuns: modelRuns(250, 5_000) },
  )
})
