/** Options that are objects: each member has its own rule, and messages name the member. */
import { isPlainObject } from './kinds.js'
import { findNearestName } from './nearest-name.js'
import { formatValue, formatName } from './format-value.js'

interface Member {
  /** Completes "must be …". */
  readonly rule: string
  readonly isRight: (value: unknown) => boolean
}

export type MemberRules<T> = Readonly<Record<keyof T & string, Member>>

/** @returns a copy, or undefined if a member breaks its rule */
export function readMembers<T>(members: MemberRules<T>, value: unknown): Partial<T> | undefined {
  if (!isPlainObject(value)) return undefined
  const given = givenIn(value)
  return given.every((entry) => problemOf(members, entry) === undefined)
    ? (Object.fromEntries(given) as Partial<T>)
    : undefined
}

/** @returns the members that break their rules, and why; undefined if there is none, or the value is not an object */
export function findMemberProblem<T>(members: MemberRules<T>, value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined
  const problems = givenIn(value)
    .map((entry) => problemOf(members, entry))
    .filter((problem) => problem !== undefined)
  return problems.length === 0 ? undefined : problems.join(', and ')
}

function givenIn(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).filter(([, one]) => one !== undefined)
}

function problemOf<T>(members: MemberRules<T>, [name, value]: [string, unknown]): string | undefined {
  const known = Object.keys(members)
  if (known.includes(name)) {
    const { rule, isRight } = members[name as keyof typeof members]
    return isRight(value) ? undefined : `${name} must be ${rule}, got ${formatValue(value)}`
  }
  const nearest = findNearestName(name, known)
  return `it has no ${formatName(name)}${nearest === undefined ? `, only ${known.join(', ')}` : `, did you mean ${nearest}?`}`
}
