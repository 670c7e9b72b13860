/** A process with a spool: connects the stages around it as the pipeline does, with a clock that ends with it. */
import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { Account } from '../../src/diagnostics/account.js'
import type { DropReason } from '../../src/diagnostics/account.js'
import { Batcher } from '../../src/pipeline/batcher.js'
import type { EntryLog } from '../../src/spool/entry-log.js'
import type { Clock } from '../../src/shared/clock.js'
import type { Batch, SegmentPosition } from '../../src/batch/batch.js'
import type { Machine } from '../../src/spool/instance/ownership.js'
import { Spool } from '../../src/spool/spool.js'
import type { SpoolOptions } from '../../src/spool/spool.js'

/** The processes of a machine. A dead process has no start time. */
export class Processes {
  readonly #alive = new Map<number, string>()
  #nextPid = 100

  born(pid = this.#nextPid++, start = `${pid}00`): Machine {
    this.#alive.set(pid, start)
    return {
      self: { pid, thread: 0, host: 'test', boot: 'a boot', namespace: 'a namespace', start },
      findStartTime: (asked) => this.#alive.get(asked),
      uptimeMs: () => Infinity,
    }
  }

  die({ self }: Machine): void {
    this.#alive.delete(self.pid)
  }
}

/** A clock that ends with its process: the timers of a dead process never fire. */
class ProcessClock implements Clock {
  readonly #clock: Clock
  #isDead = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  wallNow(): number {
    return this.#clock.wallNow()
  }

  timer(delayMs: number, fire: () => void): () => void {
    return this.#clock.timer(delayMs, () => {
      if (!this.#isDead) fire()
    })
  }

  die(): void {
    this.#isDead = true
  }
}

export interface ProcessRunOptions {
  readonly root: string
  readonly clock: Clock
  readonly machine: Machine
  readonly spool?: Partial<SpoolOptions>
  readonly batchSize?: number
  readonly batchBytes?: number
  readonly newId?: () => string
  readonly onBatch?: (batch: Batch) => void
  /** Between the batcher and the spool. */
  readonly watch?: (log: EntryLog) => EntryLog
}

export interface Drop {
  readonly count: number
  readonly reason: DropReason
  readonly detail: string
}

export const URL_OF_TESTS = 'https://ingest.test/api/v1'
export const KEY_OF_TESTS = 'key-of-tests'

export class ProcessRun {
  readonly account = new Account()
  readonly spool: Spool
  readonly batcher: Batcher
  readonly machine: Machine
  /** Sealed batches in order, if nothing else takes them. */
  readonly batches: Batch[] = []
  readonly problems: string[] = []
  readonly notes: { readonly kind: string; readonly message: string }[] = []
  readonly drops: Drop[] = []
  foundTimes = 0
  /** Entries held by the test in place of delivery. */
  held = 0
  readonly #clock: ProcessClock
  #sequence = 0

  constructor({
    root,
    clock,
    machine,
    spool,
    batchSize = 100,
    batchBytes = Infinity,
    newId,
    onBatch,
    watch = (log) => log,
  }: ProcessRunOptions) {
    this.machine = machine
    this.#clock = new ProcessClock(clock)
    this.spool = new Spool({
      dir: root,
      maxBytes: 256 * 1024 * 1024,
      maxAgeMs: 7 * 24 * 3600 * 1000,
      durability: 'process',
      url: URL_OF_TESTS,
      apiKey: KEY_OF_TESTS,
      clock: this.#clock,
      account: this.account,
      machine,
      onFound: () => {
        this.foundTimes += 1
      },
      report: {
        problem: (message) => this.problems.push(message),
        note: (kind, message) => this.notes.push({ kind, message }),
        dropped: (count, reason, detail) => this.drops.push({ count, reason, detail }),
      },
      ...spool,
    })
    this.batcher = new Batcher({
      batch: { size: batchSize, intervalMs: 1000 },
      clock: this.#clock,
      log: watch(this.spool.log),
      onBatch:
        onBatch ??
        ((batch) => {
          this.held += batch.count
          this.batches.push(batch)
        }),
      ...(newId !== undefined && { newId }),
    })
    this.batcher.limitBytes(batchBytes)
    this.account.addStage(() => this.batcher.pendingEntries)
    this.account.addStage(() => this.held)
    this.account.addStage(() => this.spool.pendingEntries)
    this.spool.start()
  }

  add(entry: string, rank = 1): void {
    this.account.received += 1
    this.batcher.add(entry, rank)
  }

  /** Reads all entries of dead processes that are claimed. */
  async recoverAll(): Promise<Batch[]> {
    const taken: Batch[] = []
    while (await this.spool.recovery.next((batch) => taken.push(batch))) this.held += taken.at(-1)?.count ?? 0
    return taken
  }

  /** The batch waits only on disk. @returns its sequence */
  spill({ count, place }: Batch): number {
    this.spool.spilled.push({ count, place: place as SegmentPosition }, this.#sequence)
    return this.#sequence++
  }

  /** The service accepts a batch. */
  settle(batch: Batch): void {
    batch.acknowledgement?.acknowledge()
    this.held -= batch.count
    this.account.accepted += batch.count
  }

  /** As by SIGSTOP, permanently: none of its timers fires any more. */
  freeze(): void {
    this.#clock.die()
  }

  /** Like `kill -9`: nothing is written any more. Its open files are closed, because the test process continues. */
  die(processes: Processes, root: string): void {
    processes.die(this.machine)
    this.abandon()
    closeAcknowledgementLogs(root)
  }

  /** Like kill(), but other processes may still use acknowledgement logs in the root. */
  abandon(): void {
    this.#clock.die()
    this.spool.log.current?.close()
    this.spool.recovery.close()
    this.spool.spilled.forgetAll()
  }
}

/** File descriptors opened before any process: not acknowledgement logs. */
const OPEN_BEFORE: ReadonlySet<string> = new Set(openNumbers())

/** Nothing else closes them, so no descriptor is closed twice. Without `/proc` they stay open. */
export function closeAcknowledgementLogs(root: string): void {
  for (const name of openNumbers()) if (!OPEN_BEFORE.has(name) && isJournalOf(root, name)) closeSync(Number(name))
}

function openNumbers(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    return [] // descriptors leak until the test ends
  }
}

function isJournalOf(root: string, fd: string): boolean {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`)
    return path.startsWith(`${root}/`) && /\.ack( \(deleted\))?$/.test(path)
  } catch {
    return false // the descriptor of the listing itself
  }
}
