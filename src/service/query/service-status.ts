/** `GET /local/status`: what this service is, for the page and for who asks which one listens here. */
import { BASE_PATH } from '../../protocol/limits.js'
import { VERSION } from '../../version.js'
import type { ServiceStatus } from './api-types.js'
import type { ResolvedServiceOptions } from '../service-options.js'
import type { RecordKind } from '../store/store.js'

/** Where the transport sends outside production unless it is told otherwise. */
const DEFAULT_URL = `http://127.0.0.1:4319${BASE_PATH}`

export interface RunningService {
  readonly url: string
  readonly startedAtMs: number
  readonly kept: Readonly<Record<RecordKind, number>>
}

export function createStatus(
  { store, dbFile, maxEntries, maxStoreBytes, maxAgeMs }: ResolvedServiceOptions,
  { url, startedAtMs, kept }: RunningService,
): ServiceStatus {
  return {
    version: VERSION,
    url,
    is_default_url: url === DEFAULT_URL,
    started_at: new Date(startedAtMs).toISOString(),
    store,
    db_file: dbFile ?? null,
    kept,
    limits: { max_entries: maxEntries, max_bytes: maxStoreBytes, max_age_ms: maxAgeMs ?? null },
  }
}
