/** Converts the settings to those of the mapper and of request logs. */
import type { RequestKeys, Settings } from '../options/settings.js'
import type { JsonObject } from '../protocol/log-entry.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { PINO_LEVELS } from '../record/coerce.js'
import { Redactor } from '../redaction/redactor.js'
import { removeSecrets } from '../redaction/secret-members.js'
import { removeSecretsFromText } from '../redaction/secret-text.js'

/** The `config` of pino's message `{ code: 'PINO_CONFIG', config }`. */
export interface PinoConfig {
  readonly levels?: { readonly labels?: Readonly<Record<number, string>> }
  readonly messageKey?: string
  readonly errorKey?: string
}

/** pino-http's names. */
const REQUEST_KEYS: RequestKeys = { req: 'req', res: 'res', responseTime: 'responseTime', reqId: 'reqId' }

/** Options take precedence over pino's configuration, which takes precedence over pino's defaults. */
export function createMappingOptions(settings: Settings, config: PinoConfig | undefined): MappingOptions {
  const { pino, scrub } = settings
  const { err, ...requestKeys } = pino.customAttributeKeys ?? {}
  const custom = Object.entries(pino.customLevels ?? {}).map(([label, number]) => [number, label] as const)
  const redactor = new Redactor(scrub)
  return {
    ...settings,
    ...redactSettings(settings, redactor),
    ...pino,
    messageKey: pino.messageKey ?? config?.messageKey ?? 'msg',
    errorKey: pino.errorKey ?? err ?? config?.errorKey ?? 'err',
    requestKeys: { ...REQUEST_KEYS, ...requestKeys },
    redactor,
    levels: { ...(config?.levels?.labels ?? (custom.length > 0 ? {} : PINO_LEVELS)), ...Object.fromEntries(custom) },
  }
}

/**
 * Removes secrets from the settings once, because the kernel searches only the line and adds settings
 * unchanged. Works on a copy, since headers are removed in place. Handles each tag separately: two tags are not a
 * header's name and value.
 */
function redactSettings(settings: Settings, redactor: Redactor): Partial<MappingOptions> {
  const { service, fallbackService, environment, version, releaseId, metadata, tags, deploy } = settings
  const own = JSON.parse(
    JSON.stringify({ service, fallbackService, environment, version, releaseId, metadata, deploy }),
  ) as JsonObject
  removeSecrets(own, redactor.names)
  return JSON.parse(
    redactor.redactJson(
      JSON.stringify({ ...own, tags: tags.map((tag) => removeSecretsFromText(tag, redactor.names)) }),
    ),
  ) as Partial<MappingOptions>
}

const MIB = 1024 * 1024

/** Request logs are small, so most of the memory and the connections are reserved for entries. */
export function toRequestLogSettings(settings: Settings): Settings {
  return {
    ...settings,
    maxConcurrency: Math.min(settings.maxConcurrency, 4),
    maxBufferBytes: Math.max(MIB, Math.floor(settings.maxBufferBytes / 4)),
  }
}
