/** From text to entries in their channel: each line is received, and leaves by one named door. */
import type { EndpointPipeline } from './endpoint-pipeline.js'
import type { EntryBuilder } from './entry-builder.js'
import { LineSplitter } from '../record/line-splitter.js'
import type { Mapper } from '../record/mapper.js'

export interface RecordReaderOptions {
  readonly endpoint: EndpointPipeline
  readonly entryBuilder: EntryBuilder
  readonly mapper: Pick<Mapper, 'peekSeverity'>
  /** Lowest level that is sent, as `positionOf`. */
  readonly threshold: number
  /** Whether a line may be refused unread: nothing but its entry is made of it. */
  readonly canRefuseUnread: boolean
}

const LOWEST_RANK = 0

export class RecordReader {
  readonly #options: RecordReaderOptions
  readonly #lines: LineSplitter
  #inHand = 0

  constructor(options: RecordReaderOptions) {
    this.#options = options
    this.#lines = new LineSplitter((text, start, end) => this.#take(text, start, end))
  }

  /** Received, and not yet anywhere: what is told meanwhile counts it. */
  get pendingEntries(): number {
    return this.#inHand
  }

  /** Takes `text`, of which `advance` makes entries. What is left of the text before it goes first. */
  begin(text: string): void {
    this.#lines.advance()
    this.#options.entryBuilder.beginText()
    this.#lines.begin(text)
  }

  /** The lines that begin in the next `maxChars` of the text. @returns whether it has more */
  advance(maxChars?: number): boolean {
    return this.#lines.advance(maxChars)
  }

  /** What was left without a newline is a line, too. */
  end(): void {
    this.#lines.advance()
    this.#options.entryBuilder.beginText()
    this.#lines.end()
  }

  #take(text: string, start: number, end: number): void {
    const {
      endpoint: channel,
      entryBuilder: intake,
      mapper,
      threshold: minPosition,
      canRefuseUnread: isRefusedUnread,
    } = this.#options
    channel.account.received += 1
    this.#inHand = 1
    // Short of room there is no time to lose either: what will be refused is not mapped first.
    if (isRefusedUnread && !channel.admits(LOWEST_RANK)) {
      const peeked = mapper.peekSeverity(text, start)
      if (peeked !== undefined && peeked >= minPosition && !channel.admits(peeked)) return this.#refuse()
    }
    const entry = intake.build(text, start, end)
    const { severity: rank } = intake
    if (entry !== '' && !channel.admits(rank)) return this.#refuse()
    this.#inHand = 0
    if (entry === '') channel.account.filtered += 1
    else channel.add(entry, rank)
  }

  #refuse(): void {
    this.#inHand = 0
    this.#options.endpoint.recordRefusal()
  }
}
