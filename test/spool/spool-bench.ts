/** Set-up of the spool tests: a root folder, processes on a fake clock, and injected errors. All of it is undone after each test. */
import { mkdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, vi } from 'vitest'
import type { Batch, DeadLetter } from '../../src/batch/batch.js'
import type { SpoolOptions } from '../../src/spool/spool.js'
import { nameDestination } from '../../src/spool/spool-root.js'
import { FakeClock } from '../fake-clock.js'
import { filesBelow } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, Processes, URL_OF_TESTS } from './process-run.js'
import type { ProcessRunOptions } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

/** Segments of the smallest size, 64 KiB. */
export const SEGMENT_BYTES = 64 * 1024

export interface BenchOptions<Clock extends FakeClock> {
  readonly batchSize?: number
  /** Path of the root below the scratch folder. It does not exist before the first process. */
  readonly path?: string
  readonly createClock?: () => Clock
}

class SpoolBench<Clock extends FakeClock> {
  readonly scratch = scratchFolder()
  readonly root: string
  readonly destination: string
  readonly processes = new Processes()
  clock: Clock
  readonly #batchSize: number
  #runs: ProcessRun[] = []
  #injected: (() => void)[] = []

  constructor(path: string, batchSize: number, clock: Clock) {
    this.root = join(this.scratch, path)
    this.destination = join(this.root, nameDestination(URL_OF_TESTS, KEY_OF_TESTS))
    this.#batchSize = batchSize
    this.clock = clock
  }

  readonly begin = (spool: Partial<SpoolOptions> = {}, options: Partial<ProcessRunOptions> = {}): ProcessRun => {
    const { root, clock } = this
    const machine = options.machine ?? this.processes.born()
    const run = new ProcessRun({ root, clock, machine, batchSize: this.#batchSize, spool, ...options })
    this.#runs.push(run)
    return run
  }

  readonly kill = (run: ProcessRun): void => {
    this.#runs = this.#runs.filter((other) => other !== run)
    run.die(this.processes, this.root)
  }

  readonly close = (run: ProcessRun): void => {
    this.#runs = this.#runs.filter((other) => other !== run)
    run.spool.close()
    this.processes.die(run.machine)
  }

  /** Registers injected errors. @param undos functions that remove them */
  readonly inject = (...undos: (() => void)[]): void => {
    this.#injected.push(...undos)
  }

  /** Removes all injected errors. */
  readonly restore = (): void => {
    for (const undo of this.#injected.splice(0).toReversed()) undo()
  }

  /** Sets the modification times of files in the root as if they had not been written for `ageMs`. */
  readonly setAge = (ageMs: number, isMeant: (path: string) => boolean = () => true): void => {
    const seconds = (this.clock.wallNow() - ageMs) / 1000
    for (const path of filesBelow(this.root).filter(isMeant)) utimesSync(path, seconds, seconds)
  }

  end(): void {
    this.restore()
    for (const run of this.#runs.splice(0)) run.die(this.processes, this.root)
    rmSync(this.scratch, { recursive: true, force: true })
  }
}

export function useSpoolBench<Clock extends FakeClock>(
  options: BenchOptions<Clock> & { readonly createClock: () => Clock },
): SpoolBench<Clock>
export function useSpoolBench(options?: BenchOptions<FakeClock>): SpoolBench<FakeClock>
export function useSpoolBench({
  path = 'root',
  batchSize = 100,
  createClock = () => new FakeClock(Date.now()),
}: BenchOptions<FakeClock> = {}): SpoolBench<FakeClock> {
  const bench = new SpoolBench(path, batchSize, createClock())
  beforeEach(() => {
    mkdirSync(bench.scratch, { recursive: true })
    bench.clock = createClock()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    bench.end()
  })
  afterAll(() => removeScratch(bench.scratch))
  return bench
}

/** As the service rejects an entry. */
export function deadLetter(index = 0, entry: object = {}, batchId = 'b'): DeadLetter {
  return { batchId, index, status: 422, code: '', field: '', reason: 'why', entry: JSON.stringify(entry) }
}

export function idsOf(batches: readonly Batch[]): string[] {
  return batches.map(({ batchId }) => batchId)
}

export function countsOf(batches: readonly Batch[]): number[] {
  return batches.map(({ count }) => count)
}

/** @returns the entries of all batches, parsed */
export function entriesOf<Entry>(batches: readonly Pick<Batch, 'body'>[]): Entry[] {
  return batches.flatMap(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { logs: Entry[] }).logs)
}

/** Names of the entries `{"name":…}`. */
export function namesIn(batches: readonly Batch[]): string[] {
  return entriesOf<{ name: string }>(batches).map(({ name }) => name)
}

/** Numbers of the entries `{"n":…}`. */
export function numbersIn(batches: readonly Batch[]): number[] {
  return entriesOf<{ n: number }>(batches).map(({ n }) => n)
}

/** Writes batches of ten large entries. @param bytes minimum of bytes */
export function writeBytes(run: ProcessRun, bytes: number, severity = 2): void {
  const entry = JSON.stringify({ padding: 'x'.repeat(3000) })
  for (let written = 0; written < bytes; written += 10 * entry.length) {
    for (let n = 0; n < 10; n += 1) run.add(entry, severity)
    run.batcher.seal()
  }
}

/** The batches wait only on disk. */
export function spillBatches(run: ProcessRun, batches: readonly Batch[]): void {
  for (const batch of batches) {
    run.held -= batch.count
    run.spill(batch)
  }
}
