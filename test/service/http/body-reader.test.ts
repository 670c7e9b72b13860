/** Memory that bodies may take together, with requests and time made up. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BodyReader } from '../../../src/service/http/body-reader.js'
import type { Body } from '../../../src/service/http/body-reader.js'
import { settled } from '../../fake-clock.js'

const KIB = 1024
const OK = () => true

interface Sent {
  readonly stream: PassThrough
  readonly request: IncomingMessage
  readonly result: () => unknown
  readonly status: () => number | undefined
  readonly body: () => Body
}

function setUp(maxBytes: number, maxPendingBytes: number) {
  let nowMs = 0
  const bodies = new BodyReader({ maxBytes, maxPendingBytes, now: () => nowMs })
  const send = (headers: Record<string, string> = {}): Sent => {
    const stream = new PassThrough({ highWaterMark: 1 << 24 })
    const request = Object.assign(stream, {
      headers: { 'content-type': 'application/json', ...headers },
    }) as unknown as IncomingMessage
    let result: Awaited<ReturnType<BodyReader['read']>> | undefined
    void bodies.read(request, {} as ServerResponse, OK).then((one) => (result = one))
    return {
      stream,
      request,
      result: () => result?.kind,
      status: () => (result?.kind === 'refused' ? result.reply.status : undefined),
      body: () => {
        if (result?.kind !== 'read') throw new Error(`the body was not read but ${result?.kind}`)
        return result.body
      },
    }
  }
  return { bodies, send, pass: (ms: number) => void (nowMs += ms) }
}

describe('the bodies that are pending', () => {
  it('are counted until nothing of them is held, however they end', async () => {
    const { bodies, send } = setUp(10 * KIB, 100 * KIB)
    const [whole, gone, long, broken] = [send(), send(), send(), send()]
    whole.stream.end(Buffer.alloc(4 * KIB))
    for (const { stream } of [gone, broken]) stream.write(Buffer.alloc(5 * KIB))
    await settled()
    expect(bodies.pendingBytes).toBe(14 * KIB)
    long.stream.write(Buffer.alloc(11 * KIB))
    gone.stream.destroy()
    broken.stream.destroy(new Error('reset'))
    await settled()
    expect([whole, gone, long, broken].map((one) => one.result())).toEqual(['read', 'gone', 'refused', 'gone'])
    expect(long.status()).toBe(413)
    expect(bodies.pendingBytes).toBe(4 * KIB)
    whole.body().share.release()
    expect(bodies.pendingBytes).toBe(0)
  })

  it('beyond the bound one more is told to come again, and takes nothing from the others', async () => {
    const { bodies, send } = setUp(10 * KIB, 20 * KIB)
    const [first, second, third] = [send(), send(), send()]
    first.stream.write(Buffer.alloc(9 * KIB))
    second.stream.write(Buffer.alloc(9 * KIB))
    await settled()
    third.stream.write(Buffer.alloc(3 * KIB))
    await settled()
    expect([third.status(), bodies.pendingBytes]).toEqual([503, 18 * KIB])
    first.stream.end()
    second.stream.end()
    const small = send()
    small.stream.end(Buffer.alloc(KIB))
    await settled()
    expect([first, second, small].map((one) => one.result())).toEqual(['read', 'read', 'read'])
  })

  it('that come too slowly make room for others, the oldest first', async () => {
    const { send, pass } = setUp(10 * KIB, 25 * KIB)
    const slow = [send(), send()]
    // Drop by drop: what counts is when it began, not when something came last.
    for (let n = 0; n < 9; n++) {
      for (const { stream } of slow) stream.write(Buffer.alloc(KIB))
      await settled()
      pass(220)
    }
    const third = send()
    third.stream.end(Buffer.alloc(9 * KIB))
    await settled()
    expect([third, ...slow].map((one) => one.status())).toEqual([503, undefined, undefined])
    pass(20)
    const fourth = send()
    fourth.stream.end(Buffer.alloc(9 * KIB))
    await settled()
    expect([fourth.result(), slow[0]?.status(), slow[1]?.status()]).toEqual(['read', 503, undefined])
  })
})

describe('what is inflated', () => {
  it('counts too, as long as it is held', async () => {
    const { bodies, send } = setUp(10 * KIB, 10 * KIB)
    const packed = gzipSync(`"${'x'.repeat(9 * KIB)}"`)
    const [first, second] = [send({ 'content-encoding': 'gzip' }), send({ 'content-encoding': 'gzip' })]
    for (const { stream } of [first, second]) stream.end(packed)
    await settled()
    expect(await bodies.decode(first.request, first.body())).toMatchObject({ json: expect.stringContaining('xxx') })
    expect(bodies.pendingBytes).toBe(9 * KIB + 2 + 2 * packed.length)
    expect(await bodies.decode(second.request, second.body())).toMatchObject({ reply: { status: 503 } })
    second.body().share.release()
    first.body().share.release()
    expect(bodies.pendingBytes).toBe(0)
  })

  it('is at most so long', async () => {
    const { bodies, send } = setUp(10 * KIB, 100 * KIB)
    const bomb = send({ 'content-encoding': 'gzip' })
    bomb.stream.end(gzipSync(Buffer.alloc(1 << 20, 32)))
    await settled()
    expect(await bodies.decode(bomb.request, bomb.body())).toMatchObject({ reply: { status: 413 } })
  })
})
