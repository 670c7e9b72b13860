/** `pino-ingest spool show`: entries as people read them, or as they stand. */
import { assemble } from '../../spool/segment/assemble.js'
import type { Assembled } from '../../spool/segment/assemble.js'
import { readUnsettledBatches } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { parseBatchEntries } from '../../batch/sub-batch.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { printable } from '../shared/printable.js'
import { parseItemKind } from './item-kind.js'
import { readLines, parseDeadLetter, formatRejection } from './read-dead-letters.js'
import type { StoredDeadLetter } from './read-dead-letters.js'
import { selectAll, isBatchId, selectById } from './select.js'
import type { Selection } from './select.js'
import { DIR_FLAG, locateSpool } from './locate.js'
import { parseInteger } from '../shared/terminal-format.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000_000
const MAX_MESSAGE_CHARS = 500

/** @param id of an instance, a destination or a batch, or `dead` */
export function createShowCommand(id: string): Command {
  return {
    summary:
      'Shows the entries and request logs that are not settled, or that the service refused, with its reason. It changes nothing.',
    usage: ['pino-ingest spool show ID [FLAGS]'],
    flags: {
      ...DIR_FLAG,
      limit: { value: 'N', meaning: `shows so many entries at most (${DEFAULT_LIMIT}; with --json all)` },
    },
    notes: [
      'ID is an instance, a destination, a beginning of either that no other has, a batch_id, or dead for all dead letters.',
      'With --json it prints each entry as it stands, one on a line.',
      'Exit codes: 0 done, 1 there is no such ID or something cannot be read, 2 wrong flags.',
    ],
    jsonFailuresTo: 'stdout',
    run: (given) => run(id, given),
  }
}

async function run(id: string, given: Arguments): Promise<number> {
  const asJson = given.switches.has('json')
  const limitText = given.texts.get('limit')
  const limit =
    limitText === undefined ? (asJson ? Infinity : DEFAULT_LIMIT) : parseInteger(limitText, 'limit', MAX_LIMIT)
  const place = locateSpool(given)
  const batchId = isBatchId(id) ? id.toLowerCase() : undefined
  const picked = batchId === undefined ? selectById(place, id) : selectAll(place)
  const printer = new Printer(asJson, limit, place.mask)
  const problems = await showAll(picked, batchId, printer)
  for (const problem of problems) process.stderr.write(`pino-ingest spool: ${printable(place.mask(problem))}\n`)
  if (batchId !== undefined && printer.count === 0 && problems.length === 0) {
    throw new CommandError(
      'SPOOL',
      `no batch ${id} with entries that are not settled, or were refused, in ${place.root}`,
      EXIT_FAILED,
    )
  }
  printer.end()
  return problems.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** @returns what could not be read */
async function showAll(
  { instances, letters }: Selection,
  batchId: string | undefined,
  printer: Printer,
): Promise<string[]> {
  const problems: string[] = []
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      if (!printer.isFull) await act()
    } catch (error) {
      // Settled and deleted meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  for (const instance of instances) {
    if (instance.isForeign) problems.push(`${instance.path} was written by another version of pino-ingest`)
    else for (const { path } of instance.segments) await attempt(() => showSegment(path, instance, batchId, printer))
  }
  for (const { file } of letters) await attempt(() => showLetters(file.path, batchId, printer))
  return problems
}

async function showSegment(
  path: string,
  instance: FoundInstance,
  batchId: string | undefined,
  printer: Printer,
): Promise<void> {
  await readUnsettledBatches(path, ({ read, settlement, unsettled: left }) => {
    if (left.size === 0) return true
    for (const batch of assemble(read, settlement).batches) {
      if (batchId === undefined || batchId === batch.batchId || batchId === read.batchId) printer.batch(batch, instance)
    }
    return !printer.isFull
  })
}

async function showLetters(path: string, batchId: string | undefined, printer: Printer): Promise<void> {
  for await (const line of readLines(path)) {
    const letter = parseDeadLetter(line)
    if (letter !== undefined && (batchId === undefined || batchId === letter.batchId)) printer.letter(letter)
    if (printer.isFull) break
  }
}

class Printer {
  readonly #asJson: boolean
  readonly #limit: number
  readonly #mask: (text: string) => string
  #count = 0
  #hasMore = false

  constructor(asJson: boolean, limit: number, mask: (text: string) => string) {
    this.#asJson = asJson
    this.#limit = limit
    this.#mask = mask
  }

  /** Entries shown. */
  get count(): number {
    return this.#count
  }

  /** One more would be too many, and there is one. */
  get isFull(): boolean {
    return this.#hasMore
  }

  batch({ batchId, body }: Assembled, { name }: FoundInstance): void {
    if (this.#count < this.#limit && !this.#asJson) this.#write(`batch ${batchId} in ${name}\n`)
    for (const entry of parseBatchEntries(body)) this.#entry(entry)
  }

  letter(letter: StoredDeadLetter): void {
    if (!this.#entry(letter.entry) || this.#asJson) return
    this.#write(
      `  -> ${this.#shown(formatRejection(letter))} (${this.#shown(letter.at)}, batch ${this.#shown(letter.batchId)}, entry ${letter.index})\n`,
    )
  }

  end(): void {
    if (this.#asJson) return
    if (this.#count === 0) this.#write('Nothing: all is settled.\n')
    if (this.#hasMore) this.#write(`… and more: --limit N shows more than ${this.#limit}\n`)
  }

  /** @returns whether there was room for it */
  #entry(json: string): boolean {
    if (this.#count >= this.#limit) {
      this.#hasMore = true
      return false
    }
    this.#count += 1
    // What is masked or escaped stands in texts, so that it stays JSON.
    this.#write(this.#asJson ? `${printable(this.#mask(json))}\n` : `  ${this.#line(json)}\n`)
    return true
  }

  #line(json: string): string {
    const { timestamp, level, message } = fieldsOf(json)
    return `${this.#shown(timestamp).padEnd(24)} ${this.#shown(level).padEnd(5)} ${this.#shown(message)}`
  }

  #shown(text: string): string {
    const masked = this.#mask(text)
    return printable(masked.length <= MAX_MESSAGE_CHARS ? masked : `${masked.slice(0, MAX_MESSAGE_CHARS - 1)}…`)
  }

  #write(text: string): void {
    process.stdout.write(text)
  }
}

/** What is damaged in a way that no checksum tells is shown all the same. */
function fieldsOf(json: string): Readonly<Record<'timestamp' | 'level' | 'message', string>> {
  let value: Record<string, unknown> = {}
  try {
    value = Object(JSON.parse(json)) as Record<string, unknown>
  } catch {
    return { timestamp: '-', level: '-', message: json }
  }
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '-')
  // A request log has neither level nor message: its status stands for the one, its request for the other.
  if (parseItemKind(json) === 'requests') {
    return {
      timestamp: text('timestamp'),
      level: String(value['status_code']),
      message: `${text('method')} ${text('path')} ${String(value['duration_ms'])} ms`,
    }
  }
  return { timestamp: text('timestamp'), level: text('level'), message: text('message') }
}
