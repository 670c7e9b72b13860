/** Compiled, never run: the options, and the ways to pass them to pino. */
import type { Transform } from 'node:stream'
import { expectTypeOf } from 'expect-type'
import pino from 'pino'
import ingest, { ingestOptions, ingestStream } from 'pino-ingest'
import type { BeforeSend, IngestOptions, IngestStream, IngestTransport, LogEntry } from 'pino-ingest'

// Each option has exactly its documented type.
expectTypeOf<IngestOptions['url']>().toEqualTypeOf<string | undefined>()
expectTypeOf<IngestOptions['enabled']>().toEqualTypeOf<boolean | undefined>()
expectTypeOf<IngestOptions['sendLevel']>().toEqualTypeOf<
  'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined
>()
expectTypeOf<IngestOptions['logTo']>().toEqualTypeOf<'stderr' | 'silent' | 'debug' | undefined>()
expectTypeOf<IngestOptions['releaseId']>().toEqualTypeOf<string | undefined>()
expectTypeOf<IngestOptions['retry']>().toEqualTypeOf<{ maxMs?: number | undefined } | undefined>()
expectTypeOf<IngestOptions['proxy']>().toEqualTypeOf<string | false | undefined>()
expectTypeOf<IngestOptions['tags']>().toEqualTypeOf<readonly string[] | undefined>()
expectTypeOf<IngestOptions['maxConcurrency']>().toEqualTypeOf<number | undefined>()
expectTypeOf<IngestOptions['beforeSend']>().toEqualTypeOf<string | BeforeSend | undefined>()
expectTypeOf<IngestOptions['headers']>().toEqualTypeOf<Readonly<Record<string, string | undefined>> | undefined>()
expectTypeOf<NonNullable<IngestOptions['pino']>['customLevels']>().toEqualTypeOf<
  Readonly<Record<string, number>> | undefined
>()
// An option of type any would accept everything.
expectTypeOf<
  { [Name in keyof IngestOptions]-?: 0 extends 1 & IngestOptions[Name] ? Name : never }[keyof IngestOptions]
>().toEqualTypeOf<never>()

const absent: string | undefined = undefined as string | undefined
const options: IngestOptions = {
  url: absent,
  apiKey: absent,
  service: 'checkout',
  sendLevel: 'debug',
  tags: ['a'],
  metadata: { region: 'eu', nested: { list: [1, null] } },
  deploy: { commit: absent },
  spool: { dir: absent, maxBytes: 1024 ** 3, durability: 'power' },
  breadcrumbs: { limit: 10, level: undefined },
  sample: { debug: 0.1, info: undefined },
  tls: { ca: new Uint8Array(1), cert: absent, key: absent },
  scrub: { patterns: ['email', String.raw`\bsk_\w{8}`] },
  pino: { customLevels: { audit: 35 }, customAttributeKeys: { req: 'request', reqId: absent } },
  requestLogs: { only: true, ignore: ['/health'] },
  proxy: false,
}
options.sendLevel = 'warn'
const asConst = { service: 'checkout', tags: ['a', 'b'], scrub: { patterns: ['email'] } } as const
ingestStream(asConst)

// @ts-expect-error there is no such option
ingestStream({ servce: 'checkout' })
// @ts-expect-error there is no such level
ingestStream({ sendLevel: 'warning' })
// @ts-expect-error the level of pino
ingestStream({ level: 'warn' })
// @ts-expect-error a number is not text
ingestStream({ batch: { size: '100' } })
ingestStream({ beforeSend: (entry) => (entry.level === 'debug' ? null : entry) })
// @ts-expect-error it must be synchronous
ingestStream({ beforeSend: async (entry: LogEntry) => entry })
// Short forms.
ingestStream({ requestLogs: 'only', spool: './logs', scrub: ['email'], fingerprint: true })
// @ts-expect-error a member that batch does not have
ingestStream({ batch: { sise: 100 } })
// @ts-expect-error there is no such durability
ingestStream({ spool: { durability: 'disk' } })
// @ts-expect-error a member that spool does not have
ingestStream({ spool: { path: '/var' } })
// @ts-expect-error trace is not a level of the service
ingestStream({ sample: { trace: 0.5 } })
// @ts-expect-error text instead of a list
ingestStream({ tags: 'a' })

const beforeSend: BeforeSend = (entry) => (entry.level === 'debug' ? null : { ...entry, tags: ['seen'] })
expectTypeOf(beforeSend).parameter(0).toEqualTypeOf<LogEntry>()
// @ts-expect-error an entry has a message
const wrongHook: BeforeSend = () => ({ level: 'info', timestamp: '' })
void wrongHook

pino(ingest({ service: 'checkout' })).info('x')
expectTypeOf(ingest).toEqualTypeOf<(options?: IngestOptions) => IngestStream>()

// In pino's worker.
pino({ transport: { target: 'pino-ingest', options } }).info('x')
pino(ingestOptions({ transport: { target: 'pino-ingest', options } })).info('x')
pino({
  transport: {
    targets: [
      { target: 'pino-ingest', level: 'debug', options },
      { target: 'pino/file', options: { destination: 1 } },
    ],
  },
})
pino({ transport: { pipeline: [{ target: './redact.js' }, { target: 'pino-ingest', options }] } })
const single: pino.TransportSingleOptions<IngestOptions> = { target: 'pino-ingest', options: { service: 'checkout' } }
pino({ transport: single })
const transport = pino.transport<IngestOptions>({ target: 'pino-ingest', options })
// @ts-expect-error pino rejects a wrong option once it has their type
pino.transport<IngestOptions>({ target: 'pino-ingest', options: { servce: 'x' } })
pino(transport)
const worker = transport as IngestTransport
worker
  .on('ingest:dropped', ({ count, reason }, transportId) => {
    expectTypeOf(count).toEqualTypeOf<number>()
    expectTypeOf(reason).toEqualTypeOf<'buffer' | 'shutdown' | 'spool' | 'age' | 'damaged'>()
    expectTypeOf(transportId).toEqualTypeOf<string | undefined>()
  })
  .once('ingest:problem', ({ code, message }) => expectTypeOf([code, message]).items.toExtend<string>())
  .off('ingest:stats', (account) => expectTypeOf(account.received).toEqualTypeOf<number>())
  .on('ready', () => {})
  .on('error', (error: Error) => error.message)
// @ts-expect-error a payload of another event
worker.on('ingest:dropped', ({ batchId }) => batchId)
// @ts-expect-error a listener for another payload
worker.once('ingest:dropped', (delivered: { batchId: string }) => delivered.batchId)
pino({ level: 'debug' }, worker)
pino(pino.multistream([{ stream: worker }]))
pino.transport({ targets: [{ target: 'pino-ingest', options }] }) as IngestTransport

// In the process.
const stream = ingestStream()
expectTypeOf(stream).toEqualTypeOf<IngestStream>()
expectTypeOf(stream).toExtend<IngestTransport>()
expectTypeOf(stream).toExtend<Transform>()
pino(stream)
pino({ level: 'debug' }, stream)
pino(pino.multistream([{ stream }, { level: 'debug', stream: ingestStream(options) }]))
const chained = stream
  .on('ingest:dropped', (dropped) => {
    expectTypeOf(dropped.count).toEqualTypeOf<number>()
    expectTypeOf(dropped.reason).toEqualTypeOf<'buffer' | 'shutdown' | 'spool' | 'age' | 'damaged'>()
    // @ts-expect-error a payload of another event
    void dropped.batchId
  })
  .once('ingest:delivered', ({ count, batchId, of }) => {
    expectTypeOf(count).toEqualTypeOf<number>()
    expectTypeOf(batchId).toEqualTypeOf<string>()
    expectTypeOf(of).toEqualTypeOf<'requestLogs' | undefined>()
  })
  .on('ingest:rejected', ({ errors }) => expectTypeOf(errors).items.toHaveProperty('field'))
  .on('ingest:problem', ({ code, status }) => {
    expectTypeOf(code).extract<'CONFIG'>().toEqualTypeOf<'CONFIG'>()
    expectTypeOf(status).toEqualTypeOf<number | undefined>()
  })
  .on('ingest:stats', (account) => expectTypeOf(account.dropped.buffer).toEqualTypeOf<number>())
expectTypeOf(chained).toEqualTypeOf<IngestStream>()
// @ts-expect-error a listener for another payload
stream.on('ingest:dropped', (delivered: { batchId: string }) => delivered.batchId)
// Node's own events are kept.
stream
  .on('close', () => {})
  .on('error', (error: Error) => error.message)
  .end()
stream.on('drain', () => {})
stream.flush(() => {})
const written: boolean = stream.write('{}\n')
void written
