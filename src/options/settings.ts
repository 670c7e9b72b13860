import type { EntryDeploy, JsonObject, Level } from '../protocol/log-entry.js'
import type { ApiKey } from './api-key.js'
import type { BeforeSend } from './kinds.js'
import type { NatsSettings } from './nats-settings.js'
import type { Secret } from './secret.js'
import type { SpoolSettings } from './spool-settings.js'
import type { LEVEL_NAMES } from './option-table.js'
import type { Tls } from './tls.js'

type LevelName = (typeof LEVEL_NAMES)[number]

export interface BreadcrumbSettings {
  /** Maximum of breadcrumbs kept for each request, trace or session, and attached to an entry. */
  readonly limit: number
  /** Lowest level that becomes a breadcrumb. */
  readonly level: LevelName
}

/** Share of the records that are sent, 0 to 1, by level. */
export type SampleRates = Readonly<Partial<Record<Level, number>>>

export interface BatchSettings {
  /** Entries in a batch, 1 to 100 (interface: Limits). */
  readonly size: number
  /** Maximum time that the first entry of a batch waits. After a longer pause it waits 50 ms at most, at the start 20 ms. */
  readonly intervalMs: number
}

export interface RetrySettings {
  readonly maxMs: number
}

/** The keys that the framework's request logger uses. */
export interface RequestKeys {
  readonly req: string
  readonly res: string
  readonly responseTime: string
  readonly reqId: string
}

export interface Settings {
  /** False without a destination, too: neither a URL nor `nats` is set. */
  readonly enabled: boolean
  /** Where batches are published, in place of the service. */
  readonly nats?: NatsSettings
  /** Without a trailing slash. With `nats` no address, but the name under which entries are stored on disk. */
  readonly url: string
  /** The key that is sent; a fixed one to a service on loopback, if none is set. */
  readonly apiKey: ApiKey
  readonly previousApiKeys: readonly Secret[]
  /** Warning that no URL is set, or that a key is set with `nats`. */
  readonly warning?: string
  /** Warning about variables that nothing reads. */
  readonly variableWarning?: string
  /** All keys and values of headers that were set, used or not, and keys that were read later: no message may contain them. */
  readonly secrets: readonly Secret[]
  /** Sent with every request, also with heartbeats; names in lower case. */
  readonly headers: Readonly<Record<string, Secret>>
  readonly allowInsecure: boolean
  readonly tls?: Tls
  readonly proxy: string | false
  readonly service?: string
  /** Used if the record has no `name`. */
  readonly fallbackService?: string
  readonly pino: {
    readonly messageKey?: string
    readonly errorKey?: string
    readonly nestedKey?: string
    readonly customLevels?: Readonly<Record<string, number>>
    readonly customAttributeKeys?: Readonly<Partial<RequestKeys>> & { readonly err?: string }
  }
  readonly environment?: string
  readonly version?: string
  readonly deploy?: EntryDeploy
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly sendLevel: LevelName
  readonly fingerprint: boolean
  readonly releaseId?: string
  readonly registerRelease: boolean
  readonly breadcrumbs: BreadcrumbSettings | false
  readonly requestLogs: {
    readonly enabled: boolean
    readonly only: boolean
    readonly ignore: readonly string[]
  }
  readonly scrub: {
    readonly patterns: readonly string[]
    readonly keys: readonly string[]
  }
  readonly sample?: SampleRates
  readonly dedupeWindowMs: number
  readonly beforeSend?: string | BeforeSend
  readonly batch: BatchSettings
  readonly maxConcurrency: number
  readonly requestTimeoutMs: number
  readonly shutdownTimeoutMs: number
  readonly retry: RetrySettings
  readonly maxBufferBytes: number
  readonly maxEntryBytes: number
  readonly spool: false | SpoolSettings
  readonly logTo: 'stderr' | 'silent'
  /** Whether a line about each batch, reply, wait and decision is written. */
  readonly isDebug?: boolean
}
