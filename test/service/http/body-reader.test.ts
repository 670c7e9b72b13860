/** Limits for bodies, with mock requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { BodyReader } from '../../../src/service/http/body-reader.js'
import type { ReadResult } from '../../../src/service/http/body-reader.js'
import { settled } from '../../fake-clock.js'

const KIB = 1024

function createRequest(headers: Record<string, string> = {}): IncomingMessage & PassThrough {
  const stream = new PassThrough({ highWaterMark: 1 << 24 })
  return Object.assign(stream, { headers: { 'content-type': 'application/json', ...headers } }) as never
}

function read(bodies: BodyReader, request: IncomingMessage): () => ReadResult | undefined {
  let result: ReadResult | undefined
  void bodies.read(request, {} as ServerResponse).then((one) => (result = one))
  return () => result
}

it('refuses a body that exceeds the limit of all bodies together, and accepts it once others have ended', async () => {
  const bodies = new BodyReader(10 * KIB, 15 * KIB)
  const [first, second, third] = [createRequest(), createRequest(), createRequest()]
  const [ofFirst, ofSecond, ofThird] = [read(bodies, first), read(bodies, second), read(bodies, third)]
  first.write(Buffer.alloc(9 * KIB))
  second.write(Buffer.alloc(9 * KIB))
  await settled()
  expect([ofFirst(), ofSecond()]).toMatchObject([
    undefined,
    { kind: 'refused', reply: { status: 503, headers: { 'retry-after': '1' } } },
  ])
  first.end()
  await settled()
  third.end(Buffer.alloc(9 * KIB))
  await settled()
  expect([ofFirst(), ofThird()]).toMatchObject([{ kind: 'read' }, { kind: 'read' }])
})

it('does not count bodies whose client has gone', async () => {
  const bodies = new BodyReader(10 * KIB, 10 * KIB)
  for (let n = 0; n < 3; n++) {
    const request = createRequest()
    const result = read(bodies, request)
    request.write(Buffer.alloc(9 * KIB))
    await settled()
    request.destroy()
    await settled()
    expect(result()).toEqual({ kind: 'gone' })
  }
})
