/** The service for the functions of these tests, and the entries it received. */
import { onTestFinished } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { lastingPort } from '../reusable-port.mjs'

export const KEY = 'serverless-key-90d1'

/** The service is closed when the test ends. */
export async function startService(port?: number): Promise<IngestService> {
  const service = await createIngestService({ apiKeys: [KEY], port: port ?? (await lastingPort()) })
  onTestFinished(() => service.close())
  return service
}

/** The environment of a sandbox. The options are those of `logging.mjs`, without a spool by default. */
export function envFor(url: string, options: object = {}): Record<string, string> {
  return {
    PINO_INGEST_URL: url,
    PINO_INGEST_API_KEY: KEY,
    OPTIONS: JSON.stringify({ url, apiKey: KEY, spool: false, ...options }),
  }
}

/** The numbers of the records of `logging.mjs`, in order. */
export function numbersIn(...services: readonly IngestService[]): number[] {
  return services
    .flatMap((service) => service.entries({ limit: Infinity }).items)
    .map(({ entry }) => Number(entry.metadata?.['n']))
    .toSorted((a, b) => a - b)
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}
