/** Creates the reply to `GET /local/status`. */
import { BASE_PATH } from '../protocol/limits.js'
import { VERSION } from '../version.js'
import type { ResolvedServiceOptions } from './service-options.js'
import type { RecordKind } from './store/stored-record.js'
import type { ServiceStatus } from './query/api-types.js'

/** The transport's default URL outside production. */
const DEFAULT_URL = `http://127.0.0.1:4319${BASE_PATH}`

export interface RunningService {
  readonly url: string
  readonly startedAtMs: number
  readonly stored: Readonly<Record<RecordKind, number>>
}

export function createStatus(
  { dbFile, maxEntries, maxStoreBytes, maxAgeMs }: ResolvedServiceOptions,
  { url, startedAtMs, stored }: RunningService,
): ServiceStatus {
  return {
    version: VERSION,
    url,
    is_default_url: url === DEFAULT_URL,
    started_at: new Date(startedAtMs).toISOString(),
    db_file: dbFile ?? null,
    stored,
    limits: { max_entries: maxEntries, max_bytes: maxStoreBytes, max_age_ms: maxAgeMs ?? null },
  }
}
