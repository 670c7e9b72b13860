/** `pino-ingest forward` as a process between a real NATS server and the local service. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'vitest'
import { API_KEY, ForwardFleet, logEntry, REQUEST_LOG, until } from './forward-fleet.js'
import { SKIPS_NATS, UNLESS_IT_HANGS, useNatsServers } from './nats-servers.js'

const KNOWN = '11111111-2222-4333-8444-555555555555'

const servers = useNatsServers()

/** The server accepts names of headers that the client cannot read. */
async function publishBadHeader(url: string, subject: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const headers = 'NATS/1.0\r\nBad Key: 1\r\n\r\n'
  socket.write('CONNECT {"headers":true,"verbose":false,"no_responders":true,"protocol":1}\r\n')
  socket.end(`HPUB ${subject} ${headers.length} ${headers.length + 2}\r\n${headers}{}\r\nPING\r\n`)
  await once(socket.resume(), 'close')
}

describe.skipIf(SKIPS_NATS).concurrent('forward', UNLESS_IT_HANGS, () => {
  it('delivers each entry once, stores rejected ones with the reason, and exits with 0', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    const { names, jsm, service } = fleet
    const bad = { level: 'info' }
    await fleet.js.publish(`$KV.${names.bucket}.delivered.${KNOWN}`, '')
    await fleet.publish('logs', [logEntry('known')], { batchId: KNOWN })
    const ids = [
      await fleet.publish('logs', [logEntry('a'), bad, logEntry('b')]),
      // Without the transport's headers, and with a wrong one.
      await fleet.publish('logs', [logEntry('c')], { headers: { 'Pino-Ingest-Count': '' } }),
      await fleet.publish('logs', [logEntry('d'), bad], { headers: { 'Pino-Ingest-Count': '1' } }),
    ]
    await fleet.publish('requests', [REQUEST_LOG])
    const forwarder = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['a', 'b', 'c', 'd'])
    expect(service.requestLogs().items).toHaveLength(1)
    // The rests of batches with a rejected entry have ids of their own.
    const published = [KNOWN, ...ids]
    const sent = service.requests.map(({ batchId }) => batchId ?? '').filter((id) => published.includes(id))
    expect(sent.toSorted()).toEqual(ids.toSorted())
    const letters = await fleet.deadLetters()
    expect(letters).toHaveLength(2)
    expect(letters.find(({ batchId }) => batchId === ids[0])).toMatchObject({
      index: 1,
      status: 422,
      entry: '{"level":"info"}',
      reason: expect.stringMatching(/./) as string,
    })
    expect(forwarder.said()).toContain('npx pino-ingest forward dead ls')
    // The forwarder saves ids, so a later one finds them.
    const stored = await jsm.streams.getMessage(`KV_${names.bucket}`, {
      last_by_subj: `$KV.${names.bucket}.delivered.${ids[0]}`,
    })
    expect(stored).not.toBe(null)

    // Other programs may use an id for several batches.
    const publishNightly = async (host: string, messageId: string): Promise<void> => {
      const headers = { 'Nats-Msg-Id': messageId }
      await fleet.publish('logs', [logEntry(`from ${host}`)], { batchId: 'nightly', headers })
      await fleet.untilEmpty()
    }
    for (const [index, host] of ['x', 'y', 'y'].entries()) await publishNightly(host, `message-${index}`)
    expect(fleet.storedMessages()).toEqual(['a', 'b', 'c', 'd', 'from x', 'from y'])
    expect(await forwarder.metric('pino_ingest_forward_batches_total', { outcome: 'duplicate' })).toBe(2)
    expect(await forwarder.metric('pino_ingest_forward_entries_total', { outcome: 'rejected' })).toBe(2)
    forwarder.child.kill('SIGTERM')
    expect(await forwarder.done).toBe(0)
  })

  it('stores messages that are not batches, and continues', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    const withExtra = JSON.stringify({ batch_id: 'x', logs: [logEntry('in it')], extra: 1 })
    const bodies = ['hello', '{"batch_id":"x","logs":[{"message":"cut off"', withExtra, Buffer.from([0xff, 0])]
    for (const body of bodies) await fleet.publish('logs', [{}], { body })
    await publishBadHeader(servers().urls[0] ?? '', fleet.names.subjects.logs)
    await fleet.publish('logs', [logEntry('after')])
    const forwarder = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['after'])
    const letters = await fleet.deadLetters()
    const invalid = bodies.length + 1
    expect(letters.map(({ code }) => code)).toEqual(Array.from({ length: invalid }, () => 'INVALID'))
    expect(letters.some(({ entry }) => entry === 'hello')).toBe(true)
    expect(await forwarder.metric('pino_ingest_forward_batches_total', { outcome: 'invalid' })).toBe(invalid)
    expect((await forwarder.get('/healthz')).status).toBe(200)
  })

  it('is ready unless the service refuses everything', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    const { faults } = fleet.service
    const forwarder = await fleet.forwarder()
    const examine = async () => {
      const { status, text } = await forwarder.get('/healthz')
      return { status, ...(JSON.parse(text) as { readonly lag: number | null; readonly lastError: string | null }) }
    }
    await fleet.publish('logs', [logEntry('good')])
    await fleet.untilEmpty()
    // Request logs only, then a single batch.
    const endNotFound = faults.add({ kind: 'status', status: 404, endpoint: 'requests' })
    for (let n = 0; n < 5; n += 1) await fleet.publish('requests', [REQUEST_LOG])
    await until(() => fleet.service.requests.filter(({ status }) => status === 404).length > 1)
    await until(async () => (await examine()).lastError !== null)
    expect(await examine()).toMatchObject({ status: 200 })
    endNotFound()
    faults.add({ kind: 'status', status: 403 })
    await fleet.publish('logs', [logEntry('refused')])
    await until(() => fleet.service.requests.some(({ status }) => status === 403))
    expect(await examine()).toMatchObject({ status: 200 })
    for (const kind of ['logs', 'requests'] as const)
      for (let n = 0; n < 5; n += 1) await fleet.publish(kind, [kind === 'logs' ? logEntry(`kept-${n}`) : REQUEST_LOG])
    await until(async () => (await examine()).status === 503)
    expect(await forwarder.metric('pino_ingest_forward_ready')).toBe(0)
    expect((await forwarder.get('/livez')).status).toBe(200)
    expect(await fleet.messages(fleet.names.deadStream)).toBe(0)
  })

  it('shows no secret', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    fleet.service.faults.add({ kind: 'status', status: 401, body: { detail: `wrong key ${API_KEY}` }, times: 1 })
    const forwarder = await fleet.forwarder({}, ['--json'])
    await fleet.publish('logs', [logEntry('one')])
    await until(() => forwarder.said().includes('"AUTH"'))
    const shown = [forwarder.said(), (await forwarder.get('/healthz')).text, (await forwarder.get('/metrics')).text]
    expect(shown.join('')).not.toContain(API_KEY)
    expect((await forwarder.get('/healthz')).text).toContain('***')
    const lines = forwarder.said().trim().split('\n')
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event)
    expect(events).toEqual(expect.arrayContaining(['forward:start', 'ingest:problem']))
  })

  it('exits immediately with 1 at a second signal, without giving batches back', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    fleet.service.faults.add({ kind: 'hang' })
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('held')])
    await until(() => fleet.service.requests.length === 1)
    const { child } = forwarder
    // Signals within 300 ms count as one.
    await until(() => child.exitCode !== null || !child.kill('SIGTERM'))
    expect(await forwarder.done).toBe(1)
  })

  it('exits with 2 for invalid flags and configuration', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers(), { isSetUp: false })
    const codes = await Promise.all([
      fleet.exitCode({ PINO_INGEST_NATS_SERVERS: '' }, []),
      fleet.exitCode({ PINO_INGEST_URL: 'ftp://x' }, []),
      // The local service must not be the default destination.
      fleet.exitCode({ PINO_INGEST_URL: '', PINO_INGEST_API_KEY: '' }, []),
      fleet.exitCode({}, ['--metrics', 'nonsense']),
    ])
    expect(codes).toEqual([2, 2, 2, 2])
  })
})
