/** Sends files one after the other through a pipeline, as fast as the service accepts their entries. */
import type { Pipeline } from '../../pipeline/pipeline.js'
import type { Position } from './checkpoint.js'
import type { CheckpointFolder } from './checkpoint-folder.js'
import type { FilePositionLog } from './file-position-log.js'
import { findResumePosition, openInput, readText, refuseOtherFormats } from './file-reader.js'
import type { InputFile } from './file-reader.js'
import type { Progress } from '../shared/progress.js'
import { FileTransfer, NO_COUNTS } from './file-transfer.js'
import type { FileResult, ResultKind } from './send-result.js'
import { TextFeed } from './text-feed.js'

export interface FileSenderOptions {
  readonly pipeline: Pipeline
  /** The log that is also passed to the pipeline. */
  readonly log: FilePositionLog
  /** Entries in a batch. */
  readonly batchSize: number
  /** Files; `-` is `stdin`. */
  readonly names: readonly string[]
  readonly stdin: AsyncIterable<Buffer> & { destroy(): unknown }
  readonly checkpoints: CheckpointFolder
  readonly onMessage: (text: string) => void
  /** Called for each file that was started. */
  readonly onResult: (result: FileResult) => void
}

/** The file that is being read. */
interface Reading {
  readonly label: string
  readonly file: InputFile
  /** Bytes of the file. */
  readonly from: number
  done: number
  /** Start time, and the number of entries accepted by then. */
  readonly startedAt: number
  readonly entries: number
}

/** Interval at which entries that the service refused are looked for at the end. */
const CHECK_MS = 500

const START: Position = { offset: 0, lineStart: 0, tail: Buffer.alloc(0) }

export class FileSender {
  readonly #options: FileSenderOptions
  readonly #transfers: FileTransfer[] = []
  /** Names by id. */
  readonly #names = new Map<string | undefined, string>()
  #reading: Reading | undefined
  #hasReadAll = false
  #stop: { readonly result: ResultKind; readonly reason: string | null } | undefined

  constructor(options: FileSenderOptions) {
    this.#options = options
  }

  /** Whether all files are read, and only replies are missing. */
  get hasReadAll(): boolean {
    return this.#hasReadAll
  }

  /** Accepted entries of all files in this run. */
  get acceptedEntries(): number {
    return this.#transfers.reduce((sum, { counts }) => sum + counts.accepted, 0)
  }

  /** Undefined before the first file is read. @param failure reason why the service does not accept entries at present */
  measure(failure: string | undefined): Progress | undefined {
    if (this.#reading === undefined) return undefined
    const { label, file, from, done, startedAt, entries: before } = this.#reading
    const total = file.size
    const seconds = Math.max(performance.now() - startedAt, 1) / 1_000
    const entries = this.acceptedEntries
    const isKnown = total !== undefined && done > from && failure === undefined
    const secondsLeft = isKnown ? ((total - done) / (done - from)) * seconds : undefined
    return { label, done, total, entries, entriesPerSecond: (entries - before) / seconds, secondsLeft, failure }
  }

  /** `run` resolves soon. A second call does not wait for replies either. */
  interrupt(): void {
    if (this.#stop !== undefined) this.#options.pipeline.abandon()
    this.#stopReading('interrupted', null)
  }

  /** Ends `run` now, since continuing is useless. */
  fail(reason: string): void {
    this.#stopReading('failed', reason)
    this.#options.pipeline.abandon()
  }

  /** Called once. Rejects only for a bug. */
  async run(): Promise<void> {
    const { names, stdin, log, pipeline } = this.#options
    for (const [at, name] of names.entries()) {
      if (this.#stop !== undefined) break
      let input: InputFile | undefined
      try {
        input = await openInput(name, stdin)
        await this.#send(input, names.length === 1 ? name : `${at + 1}/${names.length} ${name}`)
      } catch (error) {
        this.#reportUnread(name, 'failed', (error as Error).message)
      } finally {
        await input?.close()
      }
    }
    this.#hasReadAll = true
    // Nothing else will come.
    if (this.#stop === undefined) void pipeline.sendRemaining(Infinity)
    while (!log.isEmpty && this.#stop === undefined) {
      await Promise.race([log.untilChange(), new Promise((resolve) => setTimeout(resolve, CHECK_MS))])
      // No other entry follows whose acceptance would show that these are bad.
      pipeline.rejectRefused()
    }
    await pipeline.close()
    const { result = 'failed', reason = null } = this.#stop ?? {}
    for (const transfer of this.#transfers) transfer.end(result, reason)
  }

  async #send(file: InputFile, label: string): Promise<void> {
    const { name, id, size, mtimeMs, isGzip } = file
    const { checkpoints, onMessage, onResult } = this.#options
    const other = this.#names.get(id)
    if (other !== undefined) return this.#reportUnread(name, 'same', `skipped, since it is the same file as ${other}`)
    this.#names.set(id, name)
    const checkpoint = checkpoints.open(id)
    const { done, offset } = checkpoint.state
    const isUnchanged = done !== null && done.size === size && done.mtimeMs === mtimeMs
    const found = isUnchanged ? { ...START, offset } : await findResumePosition(file, checkpoint.state)
    if (found === undefined) {
      onMessage(`${name} was replaced or rewritten since it was last sent; it is sent from the start`)
      checkpoint.reset()
    }
    const from = found ?? START
    const onWriteError = (reason: string): void => this.fail(reason)
    const transfer = new FileTransfer({ file, checkpoint, offset: from.offset, onEnd: onResult, onWriteError })
    this.#transfers.push(transfer)
    if (isUnchanged) return transfer.finishReading(offset, size)
    const before = isGzip ? 0 : from.offset
    const startedAt = performance.now()
    const reading = { label, file, from: before, done: before, startedAt, entries: this.acceptedEntries }
    this.#reading = reading
    const end = await this.#read(transfer, file, from, (bytes) => (reading.done += bytes))
    if (this.#stop === undefined) transfer.finishReading(end, reading.done)
  }

  /** @returns the offset where the text ends, or cannot be read; meaningless after `#stop` */
  async #read(
    transfer: FileTransfer,
    file: InputFile,
    from: Position,
    onRead: (bytes: number) => void,
  ): Promise<number> {
    const { log } = this.#options
    log.beginSource(transfer, from.offset)
    const feed = new TextFeed(this.#options, from)
    try {
      for await (const block of readText(file, from.offset, onRead)) {
        if (feed.isAtStart) refuseOtherFormats(block, file.name)
        for (let at = 0; at < block.length; at = feed.write(block, at)) {
          while (feed.openEntries === 0 && !log.hasRoom && this.#stop === undefined) await log.untilChange()
          if (this.#stop !== undefined) return from.offset
        }
      }
      return feed.end(true)
    } catch (error) {
      if (this.#stop !== undefined) return from.offset
      transfer.fail((error as Error).message)
      return feed.end(false)
    }
  }

  #stopReading(result: ResultKind, reason: string | null): void {
    this.#stop ??= { result, reason }
    this.#options.log.wake()
    // Otherwise the process would wait for stdin.
    if (this.#reading?.file.name === '-') this.#options.stdin.destroy()
  }

  #reportUnread(file: string, result: ResultKind, reason: string): void {
    const nothing = { ...NO_COUNTS, earlier: NO_COUNTS, bytes: 0, doneAt: null }
    this.#options.onResult({ file, result, ...nothing, reason })
  }
}
