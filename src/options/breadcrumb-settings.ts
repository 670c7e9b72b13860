/** The types of the options `breadcrumbs`, `sample` and `requestLogs`. */
import { LEVELS } from '../protocol/log-entry.js'
import type { Level } from '../protocol/log-entry.js'
import { flag, isPlainObject, isWithin, parseJson } from './kinds.js'
import type { Kind } from './kinds.js'
import { findMemberProblem, readMembers } from './members.js'
import type { MemberRules } from './members.js'

export interface BreadcrumbSettings {
  /** Maximum of breadcrumbs kept for each request, trace or session, and attached to an entry. */
  readonly limit: number
  /** Lowest level that becomes a breadcrumb. */
  readonly level: BreadcrumbLevel
  /** Memory for all breadcrumbs. */
  readonly maxBytes: number
}

const BREADCRUMB_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
type BreadcrumbLevel = (typeof BREADCRUMB_LEVELS)[number]

const MIB = 1024 * 1024
export const DEFAULT_BREADCRUMBS: BreadcrumbSettings = { limit: 50, level: 'debug', maxBytes: 8 * MIB }

const MEMBERS: MemberRules<BreadcrumbSettings> = {
  limit: { rule: 'an integer from 1 to 1000', isRight: (value) => isWithin(value, 1, 1_000) },
  level: {
    rule: `one of ${BREADCRUMB_LEVELS.join(', ')}`,
    isRight: (value) => (BREADCRUMB_LEVELS as readonly unknown[]).includes(value),
  },
  maxBytes: {
    rule: `an integer from ${64 * 1024} to ${1024 * MIB} (bytes)`,
    isRight: (value) => isWithin(value, 64 * 1024, 1024 * MIB),
  },
}

/** Given members replace the defaults. */
export const breadcrumbs: Kind<Partial<BreadcrumbSettings> | boolean> = {
  rule: "true, false or { limit: 1 to 1000, level: one of pino's, maxBytes: 64 KiB to 1 GiB } (in a variable: JSON)",
  read: (value) => {
    return typeof value === 'boolean' ? value : readMembers(MEMBERS, value)
  },
  problem: (value) => findMemberProblem(MEMBERS, value),
  parse: parseFlag,
}

export function resolveBreadcrumbs(
  given: Partial<BreadcrumbSettings> | boolean | undefined,
): BreadcrumbSettings | false {
  if (given === false) return false
  return given === undefined || given === true ? DEFAULT_BREADCRUMBS : { ...DEFAULT_BREADCRUMBS, ...given }
}

/** Share of the records that are sent, 0 to 1, by level. */
export type SampleRates = Readonly<Partial<Record<Level, number>>>

export const rates: Kind<SampleRates> = {
  rule: `an object of rates from 0 to 1 by level: ${LEVELS.join(', ')}`,
  read: (value) => {
    if (!isPlainObject(value)) return undefined
    const given = Object.entries(value).filter(([, one]) => one !== undefined)
    const isRight = given.every(
      ([level, rate]) =>
        (LEVELS as readonly string[]).includes(level) && typeof rate === 'number' && rate >= 0 && rate <= 1,
    )
    return isRight ? (Object.fromEntries(given) as SampleRates) : undefined
  },
  parse: parseJson,
}

export const requestLogs: Kind<boolean | 'only'> = {
  rule: 'true, false or only',
  read: (value) => (typeof value === 'boolean' || value === 'only' ? value : undefined),
  parse: (value) => (value === 'only' ? value : parseFlag(value)),
}

/** `true`, `false`, `1` and `0`, as for other switches; else JSON. */
function parseFlag(value: string): unknown {
  const read = flag.parse(value)
  return typeof read === 'boolean' ? read : parseJson(value)
}
