import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { entryOf, ingest, started, until } from './support.js'
import { lastingPort } from '../reusable-port.mjs'

describe('start', () => {
  it('listens only on loopback, on a free port, under /api/v1', async () => {
    const [one, two] = [await started(), await started({ host: 'localhost' })]
    expect(one.url).toBe(`http://127.0.0.1:${one.port}/api/v1`)
    expect(two.origin).toBe(`http://127.0.0.1:${two.port}`)
    expect(one.port).not.toBe(two.port)
  })

  it.each([
    { host: '0.0.0.0' },
    { port: -1 },
    { rateLimit: { requests: 1, windowMs: 0 } },
    { latencyMs: -1 },
    { maxAgeMs: 0 },
    { token: 'fifteen-letters' },
  ])('refuses %j, naming the option', async (options) => {
    const name = Object.keys(options).at(-1)
    await expect(createIngestService(options as never)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`${name} must be`),
    })
  })

  it('refuses an unknown option', async () => {
    await expect(createIngestService({ color: 1 } as never)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('color'),
    })
  })

  it('reports a port that is in use, with instructions', async () => {
    const { port } = await started()
    await expect(createIngestService({ port })).rejects.toMatchObject({
      code: 'PORT',
      message: expect.stringMatching(
        new RegExp(`port ${port} on 127.0.0.1 is already in use: .*pino-ingest dev.*another port`),
      ),
    })
  })
})

describe('close', () => {
  it('ends immediately despite hanging, delayed and incomplete requests and idle connections', async () => {
    const service = await createIngestService({ port: await lastingPort() })
    service.faults.add({ kind: 'hang', times: 1 })
    service.faults.add({ kind: 'delay', delayMs: 600_000, times: 1 })
    const open = [ingest(service, []), ingest(service, [])].map((sent) => sent.catch((error: Error) => error))
    const half = connect(service.port, '127.0.0.1')
    half.on('error', () => {})
    half.write('POST /api/v1/ingest HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{')
    await until(() => service.requests.length === 3)
    const waiting = service.waitForEntries(1).catch((error: unknown) => error)
    await Promise.all([service.close(), service.close()])
    for (const end of await Promise.all(open)) expect(end).toMatchObject({ code: 'ECONNRESET' })
    expect(await waiting).toMatchObject({ code: 'CLOSED' })
    half.destroy()
    const again = createServer().listen(service.port, '127.0.0.1')
    onTestFinished(() => void again.close())
    await until(() => (again.address() as AddressInfo | null)?.port === service.port)
  })

  it('drops delayed requests', async () => {
    const [service, later] = [await createIngestService(), await started()]
    service.faults.add({ kind: 'delay', delayMs: 60 })
    later.faults.add({ kind: 'delay', delayMs: 120 })
    const sent = ingest(service, [entryOf()]).catch((error: unknown) => error)
    await until(() => service.requests[0]?.batchId === 'batch-1')
    await service.close()
    expect(await sent).toMatchObject({ code: 'ECONNRESET' })
    // When this reply arrives, the delay of the closed service would have passed too.
    await ingest(later, [])
    expect(service.requests[0]).toMatchObject({ status: null, accepted: 0 })
  })
})

describe('waitForEntries', () => {
  it('resolves by count and by predicate, for stored and for later entries', async () => {
    const service = await started()
    const later = [service.waitForEntries(3), service.waitForEntries(({ entry }) => entry.message === 'c')]
    await ingest(service, [entryOf({ message: 'a' }), entryOf({ message: 'b' })])
    await ingest(service, [entryOf({ message: 'c' })])
    const [all, one] = await Promise.all(later)
    expect(all?.map(({ entry }) => entry.message)).toEqual(['a', 'b', 'c'])
    expect(one?.map(({ entry }) => entry.message)).toEqual(['c'])
    expect(await service.waitForEntries(2)).toHaveLength(3)
    expect(await service.waitForEntries(({ entry }) => entry.message === 'a')).toHaveLength(1)
  })

  it('reports the number of arrived entries on a timeout', async () => {
    const service = await started()
    await ingest(service, [entryOf()])
    await expect(service.waitForEntries(5, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('1 of 5 entries'),
    })
  })
})
