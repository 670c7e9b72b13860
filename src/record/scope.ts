/** The scope of a record: which records an error takes as its breadcrumbs. */
import { OPTION, Option, Scope } from './memory.js'
import type { LineRing } from './line-ring.js'

/** A hash of the relation and of the id, in two parts of 32 bits. Records of one scope have the same. */
export interface ScopeHash {
  one: number
  other: number
}

/** The ids of a record; '' if it has none. */
export interface ScopeIds {
  readonly traceId: string
  /** Whether the trace is that of the caller, which may have several concurrent requests. */
  readonly isCallersTrace: boolean
  readonly requestId: string
  readonly sessionId: string
}

/** The first of these that the record has: its own trace, its request, the caller's trace, its session, the process. */
function chooseScope({ traceId, isCallersTrace, requestId, sessionId }: ScopeIds): [kind: number, id: string] {
  if (traceId !== '' && (!isCallersTrace || requestId === '')) return [Scope.TRACE, traceId]
  if (requestId !== '') return [Scope.REQUEST, requestId]
  return sessionId === '' ? [Scope.PROCESS, ''] : [Scope.SESSION, sessionId]
}

/** Computes the hash as the kernel does (`kernel/assembly/rows.ts`), seeded per process. */
export function hashScope(ids: ScopeIds, { words }: LineRing, scope: ScopeHash): void {
  const [kind, id] = chooseScope(ids)
  const bytes = Buffer.from(id)
  let one = (words[(OPTION + Option.SEED) / 4] as number) ^ Math.imul(kind, 0x9e3779b1)
  let other = (words[(OPTION + Option.SEED) / 4 + 1] as number) ^ Math.imul(kind, 0x85ebca77)
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.readUIntLE(at, Math.min(4, bytes.length - at)) | 0
    one = rotate(Math.imul(one ^ word, 0x9e3779b1), 13)
    other = rotate(Math.imul(other + word, 0x85ebca77), 17)
  }
  scope.one = finish(one)
  scope.other = finish(other)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function finish(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) >>> 0
}
