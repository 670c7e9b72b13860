/** The option `spool`: where entries are stored, and how many. */
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import { flag, isWithin } from './kinds.js'
import type { Kind } from './kinds.js'
import { findMemberProblem, readMembers } from './members.js'
import type { MemberRules } from './members.js'

export interface SpoolSettings {
  /** Default: a folder of this user in the system's folder for temporary files. */
  readonly dir?: string
  /** Bytes of the whole root, for all processes that write to it. */
  readonly maxBytes: number
  /** Milliseconds. */
  readonly maxAgeMs: number
  /** What survives: the end of the process, or a power failure (except for the last second). */
  readonly durability: 'process' | 'power'
}

export type SpoolOption = Partial<SpoolSettings>

const MIB = 1024 * 1024
const DAY_MS = 86_400_000
const DEFAULTS = { maxBytes: 256 * MIB, maxAgeMs: 7 * DAY_MS, durability: 'process' } as const

const MAX_BYTES = 1024 * 1024 * MIB
const MAX_AGE_MS = 3_650 * DAY_MS

const MEMBERS: MemberRules<SpoolSettings> = {
  dir: { rule: 'a path', isRight: (value) => typeof value === 'string' && value !== '' },
  maxBytes: {
    rule: `an integer from ${MIB} to ${MAX_BYTES} (bytes)`,
    isRight: (value) => isWithin(value, MIB, MAX_BYTES),
  },
  maxAgeMs: {
    rule: `an integer from 1000 to ${MAX_AGE_MS} (ms)`,
    isRight: (value) => isWithin(value, 1_000, MAX_AGE_MS),
  },
  durability: { rule: 'process or power', isRight: (value) => value === 'process' || value === 'power' },
}

export const spool: Kind<SpoolOption | false> = {
  rule:
    'false, or an object with dir (a path), maxBytes (an integer from 1048576), maxAgeMs (an integer from 1000), durability (process or power) ' +
    '(in a variable: true or false; PINO_INGEST_SPOOL_DIR names the path)',
  read: (value) => {
    if (value === false) return false
    if (value === true) return {}
    return readMembers(MEMBERS, value)
  },
  problem: (value) => findMemberProblem(MEMBERS, value),
  parse: (text) => flag.parse(text),
}

export interface SpoolSources {
  readonly option: SpoolOption | false | undefined
  /** From the environment: used if the option has none. */
  readonly dir: string | undefined
  /** No URL was set. */
  readonly isLocalDefault: boolean
  /** Reads the file system. */
  readonly isLostInMemory: (path: string) => boolean
}

/** Off for the implicit local service, unless it is set. Errors are added to `problems`. */
export function resolveSpool(
  { option, dir, isLocalDefault, isLostInMemory }: SpoolSources,
  problems: string[],
): SpoolSettings | false {
  if (option === false || (option === undefined && dir === undefined && isLocalDefault)) return false
  const settings = { ...DEFAULTS, ...(dir !== undefined && { dir }), ...option }
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

/** Whether the file system keeps its files in memory. False if that is not known. @see statfs(2) */
export function isInMemory(path: string): boolean {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      const { type } = fs.statfsSync(at) // not imported by name: see `shared/node-version.ts`
      return type === TMPFS || type === RAMFS
    } catch {
      if (at === dirname(at)) return false // neither the folder nor its parents exist
    }
  }
}
