/** `pino-ingest spool show`: prints stored entries as text or JSON. */
import { assembleBatches, readUnsettledBatches } from '../../spool/segment/unsettled-batch.js'
import { parseBatchEntries } from '../../batch/sub-batch.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatEntrySummary } from '../shared/format-entry-summary.js'
import { toPrintable } from '../shared/printable.js'
import { parseInteger } from '../shared/quantities.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import { formatRejection, parseDeadLetter, readLines } from './read-dead-letters.js'
import type { StoredDeadLetter } from './read-dead-letters.js'
import { isBatchId, selectAll, selectById } from './select-entries.js'
import type { Selection } from './select-entries.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000_000
const MAX_MESSAGE_CHARS = 500

export const showCommand: Command = {
  summary:
    'Shows entries and request logs that are not settled, and rejected ones with the reason. It changes nothing.',
  examples: [
    ['npx pino-ingest spool show dead', 'rejected entries with their reasons'],
    ['npx pino-ingest spool show dead --limit 5 --json', 'five of them, for a script'],
  ],
  usage: ['pino-ingest spool show ID [FLAGS]'],
  flags: {
    ...DIR_FLAG,
    limit: { value: 'N', meaning: `shows at most this many entries (${DEFAULT_LIMIT}; with --json, all)` },
  },
  notes: [
    'ID is an instance, a destination, a unique prefix of either, a batch_id, or dead for all dead letters.',
    'With --json, it prints each entry as it is stored, one per line.',
    'Exit codes: 0 done, 1 the ID does not exist or a file cannot be read, 2 invalid flags.',
  ],
  maxPositionals: 1,
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const {
    switches,
    texts,
    positionals: [id],
  } = given
  if (id === undefined) throw createUsageError('show needs an ID from pino-ingest spool ls')
  const asJson = switches.has('json')
  const limit =
    asJson && !texts.has('limit')
      ? Infinity
      : parseInteger('limit', texts.get('limit') ?? String(DEFAULT_LIMIT), 1, MAX_LIMIT)
  const location = await locateSpool(given)
  const batchId = isBatchId(id) ? id.toLowerCase() : undefined
  const printer = new EntryPrinter(asJson, limit, location.mask)
  const problems = await showAll(
    batchId === undefined ? selectById(location, id) : selectAll(location),
    batchId,
    printer,
  )
  for (const problem of problems) process.stderr.write(`pino-ingest spool: ${toPrintable(location.mask(problem))}\n`)
  if (batchId !== undefined && printer.count === 0 && problems.length === 0) {
    throw new CommandError('SPOOL', `${location.root} has no unsettled or rejected entries of batch ${id}`, EXIT_FAILED)
  }
  printer.end()
  return problems.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** @returns descriptions of parts that could not be read */
async function showAll(
  { instances, deadLetters }: Selection,
  batchId: string | undefined,
  printer: EntryPrinter,
): Promise<string[]> {
  const problems: string[] = []
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      if (!printer.isFull) await act()
    } catch (error) {
      // ENOENT: settled and deleted by its process.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  for (const { isForeign, path: folder, name, segments } of instances) {
    if (isForeign) problems.push(`${folder} was written by another version of pino-ingest`)
    else for (const { path } of segments) await attempt(() => showSegment(path, name, batchId, printer))
  }
  for (const { path } of deadLetters) {
    await attempt(async () => {
      for (const letter of readLines(path).map(parseDeadLetter)) {
        if (letter !== undefined && (batchId === undefined || batchId === letter.batchId))
          printer.printDeadLetter(letter)
      }
    })
  }
  return problems
}

async function showSegment(
  path: string,
  instance: string,
  batchId: string | undefined,
  printer: EntryPrinter,
): Promise<void> {
  await readUnsettledBatches(path, (unsettled) => {
    for (const batch of assembleBatches(unsettled)) {
      if (batchId === undefined || batchId === batch.batchId || batchId === unsettled.read.batchId) {
        printer.printBatch(`batch ${batch.batchId} in ${instance}`, parseBatchEntries(batch.body))
      }
    }
    return !printer.isFull
  })
}

class EntryPrinter {
  readonly #asJson: boolean
  readonly #limit: number
  readonly #mask: (text: string) => string
  #count = 0
  #isFull = false

  constructor(asJson: boolean, limit: number, mask: (text: string) => string) {
    this.#asJson = asJson
    this.#limit = limit
    this.#mask = mask
  }

  /** Number of printed entries. */
  get count(): number {
    return this.#count
  }

  /** Whether there was an entry beyond the limit. */
  get isFull(): boolean {
    return this.#isFull
  }

  printBatch(title: string, entries: readonly string[]): void {
    if (this.#count < this.#limit && !this.#asJson) process.stdout.write(`${title}\n`)
    for (const entry of entries) this.#print(entry)
  }

  printDeadLetter(letter: StoredDeadLetter): void {
    if (!this.#print(letter.entry) || this.#asJson) return
    const origin = `(${this.#shorten(letter.at)}, batch ${this.#shorten(letter.batchId)}, entry ${letter.index})`
    process.stdout.write(`  -> ${this.#shorten(formatRejection(letter))} ${origin}\n`)
  }

  end(): void {
    if (this.#asJson) return
    if (this.#count === 0) process.stdout.write('All entries are settled.\n')
    if (this.#isFull) process.stdout.write(`… only the first ${this.#limit} are shown; --limit N shows more\n`)
  }

  /** @returns whether the entry is within the limit */
  #print(json: string): boolean {
    this.#isFull ||= this.#count >= this.#limit
    if (this.#isFull) return false
    this.#count += 1
    // Masking and escaping change only strings, so the line stays valid JSON.
    process.stdout.write(
      this.#asJson
        ? `${toPrintable(this.#mask(json))}\n`
        : `  ${formatEntrySummary(json, (text) => this.#shorten(text))}\n`,
    )
    return true
  }

  #shorten(text: string): string {
    const masked = this.#mask(text)
    return toPrintable(masked.length <= MAX_MESSAGE_CHARS ? masked : `${masked.slice(0, MAX_MESSAGE_CHARS - 1)}…`)
  }
}
