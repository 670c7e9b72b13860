/** Who writes in an instance's folder, and whether that thread still lives. */
import { closeSync, constants, lstatSync, readFileSync, readdirSync, readlinkSync, utimesSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Clock } from '../clock.js'
import { openOwn, readAtMost } from '../shared/safe-files.js'
import { FORMAT_VERSION, OWNER } from './format.js'

/** Milliseconds after its last renewal at which a folder is free, whatever else is known of its owner. */
export const LEASE_MS = 30_000
/** Milliseconds from one renewal to the next. */
export const RENEW_MS = 5_000
const MAX_WATCHED = 10_000
/** Of the file `owner`, which has some 200. */
const MAX_OWNER_BYTES = 4_096

export interface Identity {
  readonly pid: number
  readonly thread: number
  readonly host: string
  /** Of the kernel's start; unknown where there is no `/proc`. */
  readonly boot?: string
  /** Process ids mean nothing outside of it. */
  readonly namespace?: string
  /** When the process started, in ticks since the boot: a process id is given out again. */
  readonly start?: string
}

/** What this machine says; a parameter, so that a test can let processes die and be born. */
export interface Machine {
  readonly self: Identity
  /** `Identity.start` of a process in our namespace, undefined where there is none. */
  readonly startOf: (pid: number) => string | undefined
}

export function thisMachine(): Machine {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid'))
  const start = startOf(process.pid)
  return {
    self: {
      pid: process.pid, thread: threadId, host: hostname(),
      ...(boot !== undefined && { boot }), ...(namespace !== undefined && { namespace }), ...(start !== undefined && { start }),
    },
    startOf,
  }
}

/**
 * The 22nd field; the second is the program's name in parentheses and may hold anything. One that has ended stays
 * listed until its parent asks for it, in state Z. @see proc_pid_stat(5)
 */
function startOf(pid: number): string | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields?.[19]
}

/** What cannot be read is not known, and then the lease decides. */
function tryRead(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** @throws the system's errors */
export function writeOwner(folder: string, identity: Identity): void {
  const fd = openOwn(join(folder, OWNER), constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
  try {
    writeSync(fd, `${JSON.stringify({ format: FORMAT_VERSION, ...identity })}\n`)
  } finally {
    closeSync(fd)
  }
}

/** Renews the lease. @throws the system's errors */
export function renewLease(folder: string, wallNowMs: number, identity: Identity): void {
  try {
    utimesSync(join(folder, OWNER), wallNowMs / 1000, wallNowMs / 1000)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Somebody deleted the file, but not the folder.
    writeOwner(folder, identity)
  }
}

/** What `owner` says, or undefined where it is missing or damaged. */
export function readOwner(folder: string): Partial<Identity> | undefined {
  try {
    const fd = openOwn(join(folder, OWNER), constants.O_RDONLY)
    try {
      const value = JSON.parse(readAtMost(fd, MAX_OWNER_BYTES)?.toString() ?? '') as unknown
      return typeof value === 'object' && value !== null ? value : undefined
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}

/**
 * Remembers leases from look to look: of an owner whose process lives, only a lease that has not moved for `LEASE_MS` of
 * our own clock has ended. The wall clock, when it is set or the machine has slept, would end those of all the living.
 */
export class LeaseWatch {
  readonly #clock: Pick<Clock, 'now'>
  readonly #seen = new Map<string, { readonly renewedAt: number, readonly since: number }>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  hasStoodStill(folder: string, renewedAtMs: number): boolean {
    const now = this.#clock.now()
    const seen = this.#seen.get(folder)
    if (seen?.renewedAt === renewedAtMs) return now - seen.since > LEASE_MS
    // Folders come and go; those that are gone need not be remembered.
    if (this.#seen.size >= MAX_WATCHED) this.#seen.clear()
    this.#seen.set(folder, { renewedAt: renewedAtMs, since: now })
    return false
  }
}

/** Whether a folder may be claimed. @throws the system's error where the folder itself cannot be looked at */
export function isAbandoned(folder: string, { self, startOf: startOfPid }: Machine, wallNowMs: number, watch?: LeaseWatch): boolean {
  const owner = readOwner(folder)
  const isNeighbour = owner !== undefined && isSameWorld(owner, self) && typeof owner.pid === 'number'
  if (isNeighbour && owner.start !== startOfPid(owner.pid as number)) return true
  const renewed = renewedAt(folder)
  // Far in the future: the clock was set back since, and says nothing of that lease.
  const isOver = Math.abs(wallNowMs - renewed) > LEASE_MS
  const hasStoodStill = watch?.hasStoodStill(folder, renewed) ?? true
  return isOver && (hasStoodStill || (!isNeighbour && renewed <= wallNowMs))
}

function isSameWorld(owner: Partial<Identity>, self: Identity): boolean {
  return self.boot !== undefined && owner.boot === self.boot
    && self.namespace !== undefined && owner.namespace === self.namespace
    && typeof owner.start === 'string'
}

/** Without `owner`, what was written last. */
function renewedAt(folder: string): number {
  const owner = lstatSync(join(folder, OWNER), { throwIfNoEntry: false })
  if (owner !== undefined) return owner.mtimeMs
  const files = readdirSync(folder).map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.max(lstatSync(folder).mtimeMs, ...files)
}
