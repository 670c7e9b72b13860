/** What makes entries of a file's lines: as the transport does, but for what belongs to an application that runs. */
import type { Clock } from '../../shared/clock.js'
import type { HookFunction } from '../../filter/load-hook.js'
import type { EntryBuilder } from '../../pipeline/entry-builder.js'
import { toThreshold } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { createEntryBuilder } from '../../pipeline/create-entry-builder.js'
import { createMappingOptions } from '../../pipeline/mapping-options.js'
import { Mapper } from '../../record/mapper.js'

export interface FileIntakeOptions {
  readonly settings: Settings
  readonly clock: Clock
  /** What `beforeSend` names. */
  readonly hook: HookFunction | undefined
  /** For lines without a time of their own; ms since the epoch. */
  readonly timeMs: () => number
  readonly onProblem: (message: string) => void
}

/**
 * Equal errors are not summed up: the window is of the time that passes while they are logged. Nor is there a trail: the lines
 * before an error are in the file, and what is sent again after an interruption is to be the same.
 */
export function fileIntake({ settings, clock, hook, timeMs, onProblem }: FileIntakeOptions): EntryBuilder {
  // pino's configuration does not come with a file: what the options do not say is pino's default.
  const mapping = createMappingOptions(settings, undefined)
  return createEntryBuilder({
    settings: { ...settings, dedupeWindowMs: 0, breadcrumbs: false },
    mapping,
    clock,
    hook,
    onProblem,
    mapper: new Mapper(mapping, toThreshold(settings.level), timeMs),
    requests: undefined,
    onSummary: () => {},
  })
}
