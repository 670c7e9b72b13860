/** The service that the functions of these tests log to, and what has come there. */
import { onTestFinished } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { lastingPort } from '../reusable-port.mjs'

export const KEY = 'serverless-key-90d1'

/** Closed when the test ends. */
export async function startService(port?: number): Promise<IngestService> {
  const service = await createIngestService({ apiKeys: [KEY], port: port ?? (await lastingPort()) })
  onTestFinished(() => service.close())
  return service
}

/** Of a sandbox. The options are those of `logging.mjs`, which has no spool unless they say so. */
export function envFor(url: string, options: object = {}): Record<string, string> {
  return {
    PINO_INGEST_URL: url,
    PINO_INGEST_API_KEY: KEY,
    OPTIONS: JSON.stringify({ url, apiKey: KEY, spool: false, ...options }),
  }
}

/** Of the records of `logging.mjs`, in order. */
export function numbersIn(...services: readonly IngestService[]): number[] {
  return services
    .flatMap((service) => service.entries({ limit: Infinity }).items)
    .map(({ entry }) => Number(entry.metadata?.['n']))
    .toSorted((a, b) => a - b)
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}
