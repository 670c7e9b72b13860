/** `withFlush()` calls the handler unchanged, and flushes after it. */
import { expect, test } from 'vitest'
import { withFlush } from '../../../src/index.js'

/** A logger whose flush notes its timeout in `steps`. */
function noting(steps: unknown[]): object {
  const flush = async (timeoutMs: number): Promise<object> => {
    steps.push(timeoutMs)
    return { state: 'acknowledged' }
  }
  return { [Symbol('pino.stream')]: { write() {}, [Symbol.for('pino-ingest.flush')]: flush } }
}

test.each<[string, { timeoutMs: number } | undefined, number]>([
  ['the timeout of flush()', undefined, 5_000],
  ['its own timeout', { timeoutMs: 70 }, 70],
])('passes this and arguments, returns the result, and flushes before with %s', async (_, options, timeoutMs) => {
  const steps: unknown[] = []
  const context = { name: 'api' }
  async function handler(this: typeof context, event: number, { id }: { id: string }): Promise<string> {
    await Promise.resolve()
    steps.push(event)
    return `${this.name} ${id}`
  }
  const wrapped = withFlush(handler, noting(steps), options)
  expect(await wrapped.call(context, 7, { id: 'a' })).toBe('api a')
  expect(steps).toEqual([7, timeoutMs])
})

test.each(['throws', 'rejects'])('a handler that %s: flushes, and rejects with its error', async (how) => {
  const steps: unknown[] = []
  const error = new Error('declined')
  const fail = (): never => {
    throw error
  }
  const handler = how === 'throws' ? fail : async () => fail()
  await expect(withFlush(handler, noting(steps))()).rejects.toBe(error)
  expect(steps).toEqual([5_000])
})

test('a logger without this transport changes nothing', async () => {
  expect(await withFlush((one: number) => one + 1, { info() {} })(1)).toBe(2)
})
