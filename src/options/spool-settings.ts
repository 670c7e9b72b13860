/** The option `spool`: where entries are stored, and how many. */
import fs from 'node:fs'
import { dirname } from 'node:path'
export interface SpoolSettings {
  /** Default: a folder of this user in the system's folder for temporary files. */
  readonly dir?: string
  /** Bytes of the whole root, for all processes that write to it. */
  readonly maxBytes: number
  /** Milliseconds. */
  readonly maxAgeMs: number
  /** What survives: the exit of the process, or a power failure (except for the last second). */
  readonly durability: 'process' | 'power'
}

/** With the members' defaults. */
export type SpoolOption = SpoolSettings & { readonly enabled?: boolean }

interface SpoolSources {
  readonly option: SpoolOption
  readonly isLostInMemory: (path: string) => boolean
}

/** Errors are added to `problems`. */
export function resolveSpool({ option, isLostInMemory }: SpoolSources, problems: string[]): SpoolSettings | false {
  const { enabled, ...settings } = option
  if (!enabled) return false
  if (settings.durability === 'power') {
    if (settings.dir === undefined)
      problems.push(
        'spool.durability power needs spool.dir: the system may empty its folder for temporary files at a start',
      )
    else if (isLostInMemory(settings.dir))
      problems.push(`spool.durability power needs a spool.dir on a disk, got ${settings.dir}, which is in memory`)
  }
  return settings
}

const TMPFS = 0x01021994
const RAMFS = 0x858458f6

/** Whether the file system of an absolute path keeps its files in memory. False if that is not known. @see statfs(2) */
export function isInMemory(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    try {
      const { type } = fs.statfsSync(at) // not imported by name: see `shared/node-version.ts`
      return type === TMPFS || type === RAMFS
    } catch {
      if (at === dirname(at)) return false // neither the folder nor its parents exist
    }
  }
}
