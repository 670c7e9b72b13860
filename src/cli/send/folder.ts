/** The folder with the journals, one for each file and each place that it was sent to. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../shared/clock.js'
import { createSubBatchId } from '../../batch/sub-batch.js'
import { ensureNamedRoot } from '../../shared/safe-folders.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import { beginsWith } from './file.js'
import type { InputFile } from './file.js'
import { Journal } from './journal.js'
import { Lock } from './lock.js'
import { JournalError } from './snapshot.js'
import type { Origin } from './snapshot.js'

export interface StateFolderOptions {
  readonly dir: string
  /** Name of the service and key. */
  readonly destination: string
  /** The same under keys that were used before. */
  readonly previous: readonly string[]
  /** Stands for the options that entries are made with. */
  readonly options: string
  readonly machine: Machine
  readonly clock: Clock
  /** Sends all again. */
  readonly isRestart: boolean
}

/** What is kept of a file, held for as long as it is sent. */
export interface FileState {
  /** None for a stream, which cannot be read again. */
  readonly journal?: Journal
  /** Where entries go that the service refuses. */
  readonly rejectedPath: string
  /** For the user: what was found of an earlier time. */
  readonly note?: string
  /** Throws the system's errors. */
  close(): void
}

const SUFFIX = '.ndjson'
const REJECTED_SUFFIX = '.rejected.ndjson'

/** @see XDG Base Directory Specification */
export function defaultStateDir(env: Readonly<Record<string, string | undefined>>): string {
  const named = process.platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME']
  const base = named === undefined || named === '' ? join(homedir(), '.local', 'state') : named
  return join(base, 'pino-ingest', 'send')
}

export class StateFolder {
  readonly #options: StateFolderOptions
  #origins: readonly Origin[] | undefined

  /** @throws CommandError where there is no such folder, and none can be made */
  constructor(options: StateFolderOptions) {
    this.#options = options
    try {
      ensureNamedRoot(options.dir)
    } catch (error) {
      throw failure(
        `what was sent cannot be recorded in ${options.dir}: ${wordsOf(error)}; name another folder with --state DIR`,
      )
    }
  }

  /** @param id of the stream, in this run */
  forStream(id: string): FileState {
    return { rejectedPath: join(this.#options.dir, `stdin-${id}${REJECTED_SUFFIX}`), close: () => {} }
  }

  /** Rejects with a CommandError where it is held, or cannot be used. */
  async open(file: InputFile): Promise<FileState & Required<Pick<FileState, 'journal'>>> {
    const { dir, machine, clock } = this.#options
    const base = join(dir, this.#nameFor(file, this.#options.destination))
    const lock = Lock.take(`${base}.lock`, machine, clock)
    if (lock === undefined)
      throw failure(`${file.name} is being sent by another process; what it leaves is sent when it has ended`)
    try {
      const { journal, note } = await this.#journalOf(file, base)
      const close = (): void => {
        journal.close()
        lock.release()
      }
      return { journal, rejectedPath: base + REJECTED_SUFFIX, close, ...(note !== undefined && { note }) }
    } catch (error) {
      lock.release()
      if (error instanceof JournalError)
        throw failure(`what was sent of ${file.name} is not known: ${error.message}; --restart sends all of it`)
      throw failure(`what was sent of ${file.name} cannot be recorded: ${wordsOf(error)}`)
    }
  }

  async #journalOf(file: InputFile, base: string): Promise<{ journal: Journal; note?: string }> {
    const { previous, isRestart } = this.#options
    const path = base + SUFFIX
    for (const one of previous) moveMissing(join(this.#options.dir, this.#nameFor(file, one) + SUFFIX), path)
    let earlier: Journal | undefined
    try {
      earlier = Journal.load(path)
    } catch (error) {
      if (!(isRestart && error instanceof JournalError)) throw error
    }
    if (earlier === undefined) return { journal: this.#create(path, file, isRestart ? 1 : 0), ...this.#noteOn(file) }
    const run = earlier.origin.run + 1
    const why = isRestart ? undefined : await this.#changeOf(file, earlier)
    if (!isRestart && why === undefined) return { journal: earlier }
    earlier.close()
    // All of it is judged anew.
    rmSync(base + REJECTED_SUFFIX, { force: true })
    return {
      journal: this.#create(path, file, run),
      ...(why !== undefined && { note: `${why}: it is sent from its beginning` }),
    }
  }

  /** Why it is not the file that was sent; undefined where it is. */
  async #changeOf(
    { name, handle, size }: InputFile,
    { origin, size: sizeThen, settled }: Journal,
  ): Promise<string | undefined> {
    if (!(await beginsWith(handle, origin.head))) return `${name} has another beginning than when it was last sent`
    // Nothing of an empty file was sent.
    if (settled.total > 0 && size < sizeThen) return `${name} is shorter than when it was last sent`
    return undefined
  }

  #create(path: string, { identity }: InputFile, run: number): Journal {
    const { destination, options } = this.#options
    // From what the file is: where journals are lost, a service that knows batch ids can still tell what it has.
    const namespace = createSubBatchId(
      [destination, options, identity.dev, identity.ino, identity.head.sha256].join('\n'),
      [run],
    )
    return Journal.create(path, { ...identity, destination, options, namespace, run })
  }

  #nameFor({ identity: { dev, ino } }: InputFile, destination: string): string {
    return `${destination}-${createHash('sha256').update(`${dev}\n${ino}\n${this.#options.options}`).digest('hex').slice(0, 16)}`
  }

  /** Nothing is known of the file: perhaps of its name, or of it and other options. */
  #noteOn({ name, identity: { path, dev, ino } }: InputFile): { note?: string } {
    const { destination, options } = this.#options
    this.#origins ??= this.#readOrigins()
    const here = this.#origins.filter((origin) => origin.destination === destination)
    if (here.some((origin) => origin.dev === dev && origin.ino === ino && origin.options !== options)) {
      return { note: `${name} was sent before, with other options for its entries: it is sent again, with these` }
    }
    const isReplaced = here.some((origin) => origin.path === path && (origin.ino !== ino || origin.dev !== dev))
    return isReplaced
      ? {
          note: `${name} is another file than the one of this name that was sent before: it is sent from its beginning`,
        }
      : {}
  }

  #readOrigins(): readonly Origin[] {
    const { dir } = this.#options
    const names = readdirSync(dir).filter((name) => name.endsWith(SUFFIX) && !name.endsWith(REJECTED_SUFFIX))
    return names.flatMap((name) => Journal.originIn(join(dir, name)) ?? [])
  }
}

function moveMissing(from: string, to: string): void {
  if (
    lstatSync(from, { throwIfNoEntry: false }) !== undefined &&
    lstatSync(to, { throwIfNoEntry: false }) === undefined
  )
    renameSync(from, to)
}

function failure(message: string): CommandError {
  return new CommandError('STATE', message, EXIT_FAILED)
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
