/** From settings to what the stages need of them. Pure. */
import type { Settings } from '../options.js'
import type { PinoConfig } from '../pino-config.js'
import type { MappingOptions } from '../record/entry.js'
import { PINO_LEVELS } from '../record/fields.js'
import { Scrubber } from '../scrub/scrubber.js'

/** Options before pino's own configuration before pino's defaults. */
export function mappingOptions(settings: Settings, config: PinoConfig | undefined): MappingOptions {
  const custom = Object.entries(settings.customLevels ?? {}).map(([label, number]) => [number, label] as const)
  return {
    ...settings,
    messageKey: settings.messageKey ?? config?.messageKey ?? 'msg',
    errorKey: settings.errorKey ?? config?.errorKey ?? 'err',
    scrubber: new Scrubber({ patterns: settings.scrubPatterns, urlParams: settings.scrubUrlParams }),
    levels: { ...(config?.levels?.labels ?? PINO_LEVELS), ...Object.fromEntries(custom) },
  }
}

const MIB = 1024 * 1024

/** Request logs are small, and not to take the memory and the connections of what they are about. */
export function requestSettings(settings: Settings): Settings {
  return { ...settings, maxConcurrency: Math.min(settings.maxConcurrency, 4), maxBufferBytes: Math.max(MIB, Math.floor(settings.maxBufferBytes / 4)) }
}
