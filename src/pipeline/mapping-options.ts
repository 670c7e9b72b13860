/** From settings to what the stages need of them. Pure. */
import type { Settings } from '../options/resolve-options.js'
import type { JsonObject } from '../protocol/log-entry.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { PINO_LEVELS } from '../record/coerce.js'
import { removeHeaderLines } from '../redaction/header-text.js'
import { removeHeaders } from '../redaction/header-members.js'
import { Redactor } from '../redaction/redactor.js'

/** What pino sends as `{ code: 'PINO_CONFIG', config }`. */
export interface PinoConfig {
  readonly levels?: { readonly labels?: Readonly<Record<number, string>> }
  readonly messageKey?: string
  readonly errorKey?: string
}

/** Options before pino's own configuration before pino's defaults. */
export function createMappingOptions(settings: Settings, config: PinoConfig | undefined): MappingOptions {
  const custom = Object.entries(settings.customLevels ?? {}).map(([label, number]) => [number, label] as const)
  const scrubber = new Redactor({
    patterns: settings.scrubPatterns,
    urlParams: settings.scrubUrlParams,
    maxTextChars: settings.maxEntryBytes,
  })
  return {
    ...settings,
    ...cleanOwn(settings, scrubber),
    messageKey: settings.messageKey ?? config?.messageKey ?? 'msg',
    errorKey: settings.errorKey ?? config?.errorKey ?? 'err',
    redactor: scrubber,
    levels: { ...(config?.levels?.labels ?? PINO_LEVELS), ...Object.fromEntries(custom) },
  }
}

/**
 * Once, at the start: the fast path of `record/` looks for secrets in the line alone, and puts these beside it as they are. A
 * copy, since headers are removed in place. Tags are single words: two side by side are no header's name and value.
 */
function cleanOwn(settings: Settings, scrubber: Redactor): Partial<MappingOptions> {
  const { service, fallbackService, environment, version, releaseId, metadata, tags, deploy } = settings
  const own = JSON.parse(
    JSON.stringify({ service, fallbackService, environment, version, releaseId, metadata, deploy }),
  ) as JsonObject
  removeHeaders(own)
  return JSON.parse(
    scrubber.redactJson(JSON.stringify({ ...own, tags: tags.map(removeHeaderLines) })),
  ) as Partial<MappingOptions>
}

const MIB = 1024 * 1024

/** Request logs are small, and not to take the memory and the connections of what they are about. */
export function toRequestLogSettings(settings: Settings): Settings {
  return {
    ...settings,
    maxConcurrency: Math.min(settings.maxConcurrency, 4),
    maxBufferBytes: Math.max(MIB, Math.floor(settings.maxBufferBytes / 4)),
  }
}
