/** Compiled, never run: the local service as a test double. */
import { expectTypeOf } from 'expect-type'
import { IngestServiceError, createIngestService, validateEntry } from 'pino-ingest/service'
import type { Fault, IngestService, IngestServiceOptions, RecordedRequest, StoredEntry } from 'pino-ingest/service'

export async function double(): Promise<void> {
  const options: IngestServiceOptions = {
    port: 0,
    apiKeys: ['key'],
    partialStatus: 200,
    onRecords: (kind, records) => void [kind === 'entry', records[0]?.received_at],
  }
  const service = await createIngestService(options)
  expectTypeOf(service).toEqualTypeOf<IngestService>()
  expectTypeOf(await service.waitForEntries(2, { timeoutMs: 100 })).toEqualTypeOf<readonly StoredEntry[]>()
  await service.waitForEntries(({ entry }) => {
    expectTypeOf(entry.level).toEqualTypeOf<'debug' | 'info' | 'warn' | 'error' | 'fatal'>()
    return entry.message === 'm'
  })
  expectTypeOf(service.requests).toEqualTypeOf<readonly RecordedRequest[]>()
  expectTypeOf(service.entries({ level: ['error', 'fatal'], q: 'card' }).items[0]?.entry.error?.stack).toEqualTypeOf<
    string | undefined
  >()
  expectTypeOf(service.counts().error).toEqualTypeOf<number>()
  const fault: Fault = { kind: 'status', status: 503, retryAfter: 2, times: 3 }
  expectTypeOf(service.faults.add(fault)).toEqualTypeOf<() => void>()
  service.faults.add({ kind: 'reject-every', nth: 100, form: 'framework' })
  // @ts-expect-error there is no such fault
  service.faults.add({ kind: 'explode' })
  // @ts-expect-error a slow fault needs its delay
  service.faults.add({ kind: 'slow' })
  // @ts-expect-error loopback only
  await createIngestService({ host: '0.0.0.0' })
  // @ts-expect-error there is no such filter
  service.entries({ levl: 'error' })
  expectTypeOf(validateEntry({}).length).toEqualTypeOf<number>()
  expectTypeOf(service.close()).resolves.toEqualTypeOf<void>()
  throw new IngestServiceError('TIMEOUT', 'm')
}
