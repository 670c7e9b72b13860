/** All stages as they are wired, against the local service's faults. */
import { expect, onTestFinished, test } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import { systemClock } from '../../src/clock.js'
import { gzipSender } from '../../src/delivery/compress.js'
import { Gate } from '../../src/delivery/gate.js'
import { ingestSender } from '../../src/delivery/ingest.js'
import { quarantineSender } from '../../src/delivery/quarantine.js'
import { retrySender } from '../../src/delivery/retry.js'
import type { DeadLetter } from '../../src/sender.js'
import { createIngestService } from '../../src/service/index.js'
import { batchWith } from './poisoned.js'

test.each(['result', 'framework', 'nameless'] as const)('entries refused in the form `%s` are set aside, the others arrive once', async (form) => {
  const service = await createIngestService({ apiKeys: ['k'] })
  const http = createHttp({ url: service.url, apiKey: 'k', requestTimeoutMs: 5_000, maxConnections: 8 })
  onTestFinished(async () => {
    await http.close()
    await service.close()
  })
  service.faults.add({ kind: 'reject-containing', text: 'poison', form })
  const gate = new Gate({ clock: systemClock, maxConcurrency: 4, retryMinMs: 10, retryMaxMs: 10 })
  const letters: DeadLetter[] = []
  const inner = gzipSender(retrySender(ingestSender({ http, clock: systemClock }), gate))
  const sender = quarantineSender({ inner, gate, setAside: (those) => void letters.push(...those) })
  const batch = batchWith('6ba7b810-9dad-41d1-80b4-00c04fd430c8', Array.from({ length: 100 }, (_, n) => ({
    level: 'info', message: n % 33 === 0 ? `poison ${n}` : `good ${n}`, timestamp: '2025-01-01T00:00:00.000Z',
  })))
  const outcome = await sender.send(batch, new AbortController().signal)
  expect(outcome).toMatchObject({ kind: 'delivered', accepted: 96 })
  expect(letters.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 33, 66, 99])
  expect(letters.every(({ reason }) => reason !== '')).toBe(true)
  const stored = service.entries({ limit: Infinity }).items.map(({ entry }) => entry.message)
  expect([stored.length, new Set(stored).size]).toEqual([96, 96])
  process.stdout.write(`${form}: ${service.requests.length} requests\n`)
})
