/** The runs that logged the stored entries. A run is one process of a service: service, `metadata.pid` and `metadata.hostname`. */
import type { LogEntry } from '../../protocol/log-entry.js'

/** One object for all entries of the run: it saves memory, and the counts stay in one place. */
export interface Run {
  /** `shop-4711@laptop` */
  readonly id: string
  readonly service: string | undefined
  readonly pid: string
  readonly hostname: string
  firstMs: number
  lastMs: number
  entries: number
  /** Whether the run logs now: no other run of the service began after its last entry. */
  readonly isLast: () => boolean
}

type Process = Pick<Run, 'id' | 'service' | 'pid' | 'hostname'>

/** @returns undefined if the entry has no process id */
function findProcess({ service, metadata }: LogEntry): Process | undefined {
  const { pid, hostname = '' } = metadata ?? {}
  if (typeof pid !== 'number' && typeof pid !== 'string') return undefined
  const id = `${service === undefined ? '' : `${service}-`}${pid}@${String(hostname)}`
  return { id, service, pid: String(pid), hostname: String(hostname) }
}

export function findRunId(entry: LogEntry): string | undefined {
  return findProcess(entry)?.id
}

export class Runs {
  readonly #runs = new Map<string, Run>()
  /** The newest start in each service; undefined after a change. */
  #starts: Map<string | undefined, number> | undefined

  /** Counts the entry, and returns its run. */
  add(entry: LogEntry, timeMs: number): Run | undefined {
    const found = findProcess(entry)
    if (found === undefined) return undefined
    const run = this.#runs.get(found.id) ?? this.#begin(found)
    run.entries++
    if (timeMs < run.firstMs) this.#starts = undefined
    run.firstMs = Math.min(run.firstMs, timeMs)
    run.lastMs = Math.max(run.lastMs, timeMs)
    return run
  }

  /** Forgets the run with its last entry. */
  remove(run: Run | undefined): void {
    if (run === undefined || --run.entries > 0) return
    this.#runs.delete(run.id)
    this.#starts = undefined
  }

  clear(): void {
    this.#runs.clear()
    this.#starts = undefined
  }

  /** The oldest start first. */
  list(): readonly Run[] {
    return [...this.#runs.values()].toSorted((a, b) => a.firstMs - b.firstMs)
  }

  #begin(found: Process): Run {
    const isLast = (): boolean => run.lastMs >= this.#findNewestStart(run)
    const run: Run = { ...found, firstMs: Infinity, lastMs: -Infinity, entries: 0, isLast }
    this.#runs.set(run.id, run)
    return run
  }

  #findNewestStart({ service }: Run): number {
    this.#starts ??= new Map(this.list().map((run) => [run.service, run.firstMs]))
    return this.#starts.get(service) ?? -Infinity
  }
}
