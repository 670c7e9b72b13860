import type { EntryDeploy, JsonObject } from '../protocol/log-entry.js'
import type { Secret } from './secret.js'
import type { SpoolSettings } from './spool-settings.js'
import type { LEVEL_NAMES } from './option-table.js'
import type { Tls } from './tls.js'
import type { SampleRates, BreadcrumbSettings } from './breadcrumb-settings.js'

/** The resolved configuration. */
export interface Settings {
  readonly enabled: boolean
  /** Without a trailing slash. */
  readonly url: string
  /** The key that is sent; for the implicit local URL a fixed key, never the user's. */
  readonly apiKey: Secret
  readonly previousApiKeys: readonly Secret[]
  /** No URL was set: the service is the local one of a developer's machine. */
  readonly isLocalDefault: boolean
  /** Warning about a key that was set without a URL. */
  readonly keyWarning?: string
  /** All keys that were set, used or not: no message may contain them. */
  readonly givenKeys: readonly Secret[]
  readonly allowInsecure: boolean
  readonly tls?: Tls
  readonly proxy: string | false
  readonly noProxy: string
  readonly service?: string
  /** Used if the record has no `name`. */
  readonly fallbackService?: string
  readonly messageKey?: string
  readonly errorKey?: string
  readonly nestedKey?: string
  readonly customLevels?: Readonly<Record<string, number>>
  readonly environment?: string
  readonly version?: string
  readonly releaseId?: string
  readonly deploy?: EntryDeploy
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly level: (typeof LEVEL_NAMES)[number]
  readonly fingerprint: false | 'auto'
  readonly release: boolean
  readonly breadcrumbs: BreadcrumbSettings | false
  readonly requestLogs: boolean | 'only'
  readonly scrubPatterns: readonly string[]
  readonly scrubUrlParams: readonly string[]
  readonly sample?: SampleRates
  readonly dedupeWindowMs: number
  readonly beforeSend?: string
  readonly batchSize: number
  readonly batchBytes: number
  readonly flushIntervalMs: number
  readonly maxConcurrency: number
  readonly requestTimeoutMs: number
  readonly shutdownTimeoutMs: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  readonly maxBufferBytes: number
  readonly maxEntryBytes: number
  readonly spool: false | SpoolSettings
  readonly compression: 'none' | 'gzip'
  readonly onProblem: 'stderr' | 'silent'
}
