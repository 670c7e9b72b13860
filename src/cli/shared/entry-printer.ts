/** Prints stored entries, and the reasons of rejected ones, as text or JSON. */
import type { DeadLetter } from '../../batch/batch.js'
import type { Arguments, Flags } from './command.js'
import { formatCount, toPrintable } from './terminal.js'
import { parseInteger } from './quantities.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000_000
const MAX_MESSAGE_CHARS = 500
const TIMESTAMP_WIDTH = 24
const LEVEL_WIDTH = 5

export const LIMIT_FLAG: Flags = {
  limit: { value: 'N', meaning: `shows at most this many entries (${DEFAULT_LIMIT}; with --json, all)` },
}

/** @throws CommandError */
export function parseLimit({ switches, texts }: Arguments): number {
  const text = texts.get('limit') ?? (switches.has('json') ? undefined : String(DEFAULT_LIMIT))
  return text === undefined ? Infinity : parseInteger('limit', text, 1, MAX_LIMIT)
}

export class EntryPrinter {
  count = 0
  /** Whether there was an entry beyond the limit. */
  isFull = false
  readonly #asJson: boolean
  readonly #limit: number
  readonly #mask: (text: string) => string

  constructor(asJson: boolean, limit: number, mask: (text: string) => string) {
    this.#asJson = asJson
    this.#limit = limit
    this.#mask = mask
  }

  printBatch(title: string, entries: readonly string[]): void {
    if (this.count < this.#limit && !this.#asJson) process.stdout.write(`${title}\n`)
    for (const entry of entries) this.#print(entry)
  }

  /** @param json what `--json` prints; default: the entry */
  printDeadLetter(letter: DeadLetter & { readonly at: string }, json?: string): void {
    if (!this.#print(letter.entry, json) || this.#asJson) return
    const origin = `(${this.#shorten(letter.at)}, batch ${this.#shorten(letter.batchId)}, entry ${letter.index})`
    process.stdout.write(`  -> ${this.#shorten(formatRejection(letter))} ${origin}\n`)
  }

  /** @param nothing printed if there was no entry */
  end(nothing: string): void {
    if (this.#asJson) return
    if (this.count === 0) process.stdout.write(`${nothing}\n`)
    if (this.isFull) process.stdout.write(`… only the first ${this.#limit} are shown; --limit N shows more\n`)
  }

  /** @returns whether the entry is within the limit */
  #print(entry: string, json = entry): boolean {
    this.isFull ||= this.count >= this.#limit
    if (this.isFull) return false
    this.count += 1
    const [timestamp = '', level = '', message = ''] = parseEntry(entry).map((text) => this.#shorten(text))
    // Masking and escaping change only strings, so the line stays valid JSON.
    const line = this.#asJson
      ? toPrintable(this.#mask(json))
      : `  ${timestamp.padEnd(TIMESTAMP_WIDTH)} ${level.padEnd(LEVEL_WIDTH)} ${message}`
    process.stdout.write(`${line}\n`)
    return true
  }

  #shorten(text: string): string {
    const masked = this.#mask(text)
    return toPrintable(masked.length <= MAX_MESSAGE_CHARS ? masked : `${masked.slice(0, MAX_MESSAGE_CHARS - 1)}…`)
  }
}

function parseEntry(json: string): readonly [timestamp: string, level: string, message: string] {
  let value: Record<string, unknown>
  try {
    value = Object(JSON.parse(json)) as Record<string, unknown>
  } catch {
    return ['-', '-', json] // Damaged without a wrong checksum, or not an entry.
  }
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '-')
  // A log entry must have a level, a request log a status (interface: Resources).
  if ('level' in value || !('status_code' in value)) return [text('timestamp'), text('level'), text('message')]
  const message = `${text('method')} ${text('path')} ${String(value['duration_ms'])} ms`
  return [text('timestamp'), String(value['status_code']), message]
}

export function formatRejection({ status, code, field, reason }: DeadLetter): string {
  const kind = [status === 0 ? '' : String(status), code].filter((word) => word !== '').join(' ')
  const location = [kind, field].filter((word) => word !== '').join(', ')
  return [location, reason].filter((word) => word !== '').join(': ')
}

export function formatDeadLetterCount(count: number): string {
  return formatCount(count, 'dead letter', 'dead letters')
}
