/** The owner of an instance folder: its identity, the state of its thread, and its lease. */
import { closeSync, constants, fstatSync, lstatSync, readFileSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Clock } from '../../shared/clock.js'
import { openOwn, readAtMost } from '../../shared/safe-files.js'
import { FORMAT_VERSION, LEFT, OWNER } from '../disk-format.js'

/** A lease expires this many milliseconds after its last renewal. Used if the owner's thread cannot be checked. */
export const LEASE_MS = 30_000
/** Milliseconds between two renewals. */
export const RENEW_MS = 5_000
/** Upper limit for the file `owner`, which has about 200 bytes. */
const MAX_OWNER_BYTES = 4_096

export interface OwnerIdentity {
  readonly pid: number
  /** Kernel thread id where `start` is known, otherwise Node's thread id. */
  readonly thread: number
  readonly host: string
  /** Boot id of the kernel. Undefined where there is no `/proc`. */
  readonly boot?: string
  /** PID namespace. Process ids are comparable only within one namespace. */
  readonly namespace?: string
  /** Start time of the thread in ticks since boot. Distinguishes threads that got the same id. */
  readonly start?: string
}

/** Facts about this machine, as a parameter so tests can simulate processes that start and end. */
export interface Machine {
  readonly self: OwnerIdentity
  /** `OwnerIdentity.start` of a thread in this PID namespace; undefined if no such thread is running. @throws the system's errors */
  readonly findStartTime: (pid: number, thread: number) => string | undefined
  /** Milliseconds since the machine's boot, including sleep; Infinity if unknown. */
  readonly uptimeMs: () => number
  /** Default: one on which open files can be renamed. */
  readonly platform?: NodeJS.Platform
}

/** `Machine` of the calling thread. */
export function readMachine(): Machine {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid'))
  const [, pid, thread] = /^(\d+)\/task\/(\d+)$/.exec(tryRead(() => readlinkSync('/proc/thread-self')) ?? '') ?? []
  // A /proc mounted from another PID namespace has different process ids.
  const start = Number(pid) === process.pid ? tryRead(() => findStartTime(process.pid, Number(thread))) : undefined
  return {
    self: {
      pid: process.pid,
      thread: start === undefined ? threadId : Number(thread),
      host: hostname(),
      ...(boot !== undefined && { boot }),
      ...(namespace !== undefined && { namespace }),
      ...(start !== undefined && { start }),
    },
    findStartTime,
    platform: process.platform,
    uptimeMs: () => (tryRead(uptime) ?? Infinity) * 1000,
  }
}

/**
 * Reads field 22. Field 2 is the program's name in parentheses and may contain any character. An ended process stays
 * listed in state Z until its parent reaps it. @see proc_pid_stat(5)
 */
function findStartTime(pid: number, thread: number): string | undefined {
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

/** Returns undefined if `read` fails; the lease then decides. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/**
 * Creates or renews the lease. The renewal counter changes the file's content, so a renewal is visible even if the file
 * system does not update its times.
 * @returns the time of the renewal by the file system's clock, in milliseconds since the Unix epoch
 * @throws the system's errors
 */
export function writeOwner(folder: string, identity: OwnerIdentity, renewals = 0): number {
  const fd = openOwn(join(folder, OWNER), constants.O_WRONLY | constants.O_CREAT)
  try {
    const bytes = Buffer.from(`${JSON.stringify({ format: FORMAT_VERSION, ...identity, renewals })}\n`)
    // Overwritten in place: this needs no space on a full disk, and a partial write keeps the remaining old bytes.
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at)
    return fstatSync(fd).mtimeMs
  } finally {
    closeSync(fd)
  }
}

/** Reads `owner`. Undefined if the file is missing or damaged. @throws the system's other errors */
export function readOwner(folder: string): Partial<OwnerIdentity> | undefined {
  try {
    const value = JSON.parse(readLease(folder)?.text ?? '') as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export interface Lease {
  /** Content of `owner`. Changes with each renewal. */
  readonly text: string
  /** Milliseconds since the Unix epoch by the file system's clock. */
  readonly renewedAtMs: number
}

const UNREADABLE = new Set<unknown>(['ENOENT', 'EACCES', 'UNSAFE'])

/** Opens the file instead of calling `lstat`, which makes a network file system query its server. */
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

/** Falls back to the newest modification time in the folder if `owner` is unreadable. @throws the system's error if the folder cannot be read */
function findLease(folder: string): Lease {
  const lease = readLease(folder)
  if (lease !== undefined) return lease
  const files = readdirSync(folder).map(
    (name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return { text: '', renewedAtMs: Math.max(lstatSync(folder).mtimeMs, ...files) }
}

/** Whether a lease has expired. @param fileNowMs current time of the file system's clock */
export function isLeaseExpired(folder: string, fileNowMs: number): boolean {
  return fileNowMs - findLease(folder).renewedAtMs > LEASE_MS
}

/**
 * Compares leases from scan to scan. A lease has expired if it was not renewed for `LEASE_MS` on this process's
 * monotonic clock, so wall clocks need not be correct. The first scan uses the file system's clock, because it has no
 * earlier scan to compare with; a process that runs for seconds only can thus also send entries that others left.
 */
export class LeaseWatch {
  readonly #clock: Pick<Clock, 'now'>
  #fileNow: (() => number) | undefined
  #scannedAt = -Infinity
  /** Leases found by the previous scan. */
  #seen = new Map<string, Lease & { readonly since: number }>()
  #seenNow = new Map<string, Lease & { readonly since: number }>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Starts a scan. @param fileNow reads the file system's clock; called only if needed */
  beginScan(fileNow: () => number): void {
    const now = this.#clock.now()
    this.#fileNow = this.#scannedAt === -Infinity ? fileNow : undefined
    // If this scan is late, the process was suspended, possibly with the whole machine, and other owners could not
    // renew their leases.
    this.#seen = now - this.#scannedAt > LEASE_MS ? new Map() : this.#seenNow
    this.#seenNow = new Map()
    this.#scannedAt = now
  }

  /** @throws the system's errors */
  isExpired(folder: string): boolean {
    const lease = findLease(folder)
    const now = this.#clock.now()
    const seen = this.#seen.get(folder)
    const isSame = seen?.text === lease.text && seen.renewedAtMs === lease.renewedAtMs
    const since = isSame ? seen.since : now
    this.#seenNow.set(folder, { ...lease, since })
    return now - since > LEASE_MS || (this.#fileNow !== undefined && this.#fileNow() - lease.renewedAtMs > LEASE_MS)
  }
}

/**
 * Whether the owner's thread is running. Undefined if this cannot be checked: the owner has another boot id or PID
 * namespace, there is no `/proc`, or `owner` is missing or damaged. @throws the system's errors
 */
export function isOwnerAlive(folder: string, { self, findStartTime: findThreadStart }: Machine): boolean | undefined {
  const { pid, thread, boot, namespace, start } = readOwner(folder) ?? {}
  const isHere =
    self.boot !== undefined && boot === self.boot && self.namespace !== undefined && namespace === self.namespace
  if (!isHere || typeof start !== 'string' || typeof pid !== 'number' || typeof thread !== 'number') return undefined
  return start === findThreadStart(pid, thread)
}

/**
 * Whether a folder may be claimed. A running thread keeps its folder, however long it is suspended.
 * @param isOver whether the folder's lease has expired; called only if the owner's thread cannot be checked @throws the
 * system's errors
 */
export function isAbandoned(folder: string, machine: Machine, isOver: (folder: string) => boolean): boolean {
  const isAlive = isOwnerAlive(folder, machine)
  return isAlive === undefined ? isOver(folder) : !isAlive
}

/** Whether the folder is certainly no longer written to, because its owner closed it or the owner's thread ended. */
export function hasWriterEnded(folder: string, machine: Machine): boolean {
  return folder.endsWith(LEFT) || tryRead(() => isOwnerAlive(folder, machine)) === false
}
