/** Who writes in an instance's folder, and whether that thread still lives. */
import { closeSync, constants, fstatSync, lstatSync, readFileSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Clock } from '../clock.js'
import { openOwn, readAtMost } from '../shared/safe-files.js'
import { FORMAT_VERSION, LEFT, OWNER } from './format.js'

/** Milliseconds after its last renewal at which the lease of an owner that cannot be seen from here is over. */
export const LEASE_MS = 30_000
/** Milliseconds from one renewal to the next. */
export const RENEW_MS = 5_000
/** Of the file `owner`, which has some 200. */
const MAX_OWNER_BYTES = 4_096

export interface Identity {
  readonly pid: number
  /** The kernel's number of the thread, where `start` is known; else Node's. */
  readonly thread: number
  readonly host: string
  /** Of the kernel's start; unknown where there is no `/proc`. */
  readonly boot?: string
  /** Process ids mean nothing outside of it. */
  readonly namespace?: string
  /** When the thread started, in ticks since the boot: its number is given out again. */
  readonly start?: string
}

/** What this machine says; a parameter, so that a test can let processes die and be born. */
export interface Machine {
  readonly self: Identity
  /** `Identity.start` of a thread in our namespace, undefined where there is none. @throws the system's errors */
  readonly startOf: (pid: number, thread: number) => string | undefined
}

/** For the calling thread. */
export function thisMachine(): Machine {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid'))
  const [, pid, thread] = /^(\d+)\/task\/(\d+)$/.exec(tryRead(() => readlinkSync('/proc/thread-self')) ?? '') ?? []
  // A /proc of another namespace numbers the processes differently.
  const start = Number(pid) === process.pid ? tryRead(() => startOf(process.pid, Number(thread))) : undefined
  return {
    self: {
      pid: process.pid, thread: start === undefined ? threadId : Number(thread), host: hostname(),
      ...(boot !== undefined && { boot }), ...(namespace !== undefined && { namespace }), ...(start !== undefined && { start }),
    },
    startOf,
  }
}

/**
 * The 22nd field; the second is the program's name in parentheses and may hold anything. One that has ended stays
 * listed until its parent asks for it, in state Z. @see proc_pid_stat(5)
 */
function startOf(pid: number, thread: number): string | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/** What cannot be read is not known, and then the lease decides. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/**
 * Makes or renews the lease. Written over in place: a full disk has room for it, and the number of the renewal makes each
 * one visible, whatever the file system does with times.
 * @returns the time of the renewal by the file system's clock, in milliseconds since the epoch
 * @throws the system's errors
 */
export function writeOwner(folder: string, identity: Identity, renewals = 0): number {
  const fd = openOwn(join(folder, OWNER), constants.O_WRONLY | constants.O_CREAT)
  try {
    const bytes = Buffer.from(`${JSON.stringify({ format: FORMAT_VERSION, ...identity, renewals })}\n`)
    // In place, so that it needs no room on a full disk, and what is cut short leaves what was there.
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at)
    return fstatSync(fd).mtimeMs
  } finally {
    closeSync(fd)
  }
}

/** What `owner` says, or undefined where it is missing or damaged. @throws the system's other errors */
export function readOwner(folder: string): Partial<Identity> | undefined {
  try {
    const value = JSON.parse(readLease(folder)?.text ?? '') as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export interface Lease {
  /** Differs after each renewal. */
  readonly text: string
  /** By the file system's clock. */
  readonly renewedAtMs: number
}

const UNREADABLE = new Set<unknown>(['ENOENT', 'EACCES', 'UNSAFE'])

/** Opened, not looked at by name: a network file system asks its server then. */
function readLease(folder: string): Lease | undefined {
  let fd: number
  try {
    fd = openOwn(join(folder, OWNER), constants.O_RDONLY)
  } catch (error) {
    if (UNREADABLE.has((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
  try {
    return { text: readAtMost(fd, MAX_OWNER_BYTES)?.toString() ?? '', renewedAtMs: fstatSync(fd).mtimeMs }
  } finally {
    closeSync(fd)
  }
}

/** Without a readable `owner`, what was written last. @throws the system's error where the folder itself cannot be looked at */
function leaseOf(folder: string): Lease {
  const lease = readLease(folder)
  if (lease !== undefined) return lease
  const files = readdirSync(folder).map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return { text: '', renewedAtMs: Math.max(lstatSync(folder).mtimeMs, ...files) }
}

/** Whether a lease is older than it may be. @param fileNowMs of the file system's clock, where its owner may be alive and renew it */
export function isLeaseOver(folder: string, fileNowMs: number): boolean {
  return fileNowMs - leaseOf(folder).renewedAtMs > LEASE_MS
}

/**
 * Watches leases from look to look: one is over when it has not been renewed for `LEASE_MS` of our own monotonic clock, so that
 * nobody's clock needs to be right. The first look has nothing to compare with: there the file system's clock decides, so that
 * a process that lives for seconds sends what was left, too.
 */
export class LeaseWatch {
  readonly #clock: Pick<Clock, 'now'>
  #fileNow: (() => number) | undefined
  #lookedAt = -Infinity
  /** Of the look before this one. */
  #seen = new Map<string, Lease & { readonly since: number }>()
  #seenNow = new Map<string, Lease & { readonly since: number }>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Begins a look. @param fileNow the file system's clock, asked where it is needed */
  begin(fileNow: () => number): void {
    const now = this.#clock.now()
    this.#fileNow = this.#lookedAt === -Infinity ? fileNow : undefined
    // A look that comes late: this process was stopped, perhaps with the whole machine, and the others could not renew.
    this.#seen = now - this.#lookedAt > LEASE_MS ? new Map() : this.#seenNow
    this.#seenNow = new Map()
    this.#lookedAt = now
  }

  /** @throws the system's errors */
  isOver(folder: string): boolean {
    const lease = leaseOf(folder)
    const now = this.#clock.now()
    const seen = this.#seen.get(folder)
    const isSame = seen?.text === lease.text && seen.renewedAtMs === lease.renewedAtMs
    const since = isSame ? seen.since : now
    this.#seenNow.set(folder, { ...lease, since })
    return now - since > LEASE_MS || (this.#fileNow !== undefined && this.#fileNow() - lease.renewedAtMs > LEASE_MS)
  }
}

/**
 * Whether the thread that wrote there lives. Undefined: it cannot be seen from here, since it is of another boot or process
 * namespace, or there is no `/proc`, or `owner` is missing or damaged. @throws the system's errors
 */
export function isOwnerAlive(folder: string, { self, startOf: startOfThread }: Machine): boolean | undefined {
  const { pid, thread, boot, namespace, start } = readOwner(folder) ?? {}
  const isHere = self.boot !== undefined && boot === self.boot && self.namespace !== undefined && namespace === self.namespace
  if (!isHere || typeof start !== 'string' || typeof pid !== 'number' || typeof thread !== 'number') return undefined
  return start === startOfThread(pid, thread)
}

/**
 * Whether a folder may be claimed. A thread that can be seen and lives keeps its folder, however long it was stopped.
 * @param isOver of a folder whose owner cannot be seen: whether its lease is @throws the system's errors
 */
export function isAbandoned(folder: string, machine: Machine, isOver: (folder: string) => boolean): boolean {
  const isAlive = isOwnerAlive(folder, machine)
  return isAlive === undefined ? isOver(folder) : !isAlive
}

/** Whether nothing more is written there, for certain: closed in order, or its thread has ended. */
export function isFinal(folder: string, machine: Machine): boolean {
  return folder.endsWith(LEFT) || tryRead(() => isOwnerAlive(folder, machine)) === false
}
