/** `pino-ingest spool show`: prints stored entries as text or JSON. */
import { assembleBatches, readUnsettledBatches } from '../../spool/segment/unsettled-batch.js'
import { parseBatchEntries } from '../../batch/sub-batch.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { EntryPrinter, LIMIT_FLAG, parseLimit } from '../shared/entry-printer.js'
import { toPrintable } from '../shared/terminal.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import { parseDeadLetter, readLines } from './read-dead-letters.js'
import { isBatchId, select } from './select-entries.js'
import type { Selection } from './select-entries.js'
import { toMessage } from '../../shared/errors.js'

export const showCommand: Command = {
  examples: [
    ['npx pino-ingest spool show dead', 'rejected entries with their reasons'],
    ['npx pino-ingest spool show dead --limit 5 --json', 'five of them, for a script'],
  ],
  usage: ['pino-ingest spool show ID [FLAGS]'],
  flags: { ...DIR_FLAG, ...LIMIT_FLAG },
  notes: [
    'ID is an instance, a destination, a unique prefix of either, a batch_id, or dead for all dead letters.',
    'With --json, it prints each entry as it is stored, one per line.',
    'Exit codes: 0 done, 1 the ID does not exist or a file cannot be read, 2 invalid flags.',
  ],
  maxPositionals: 1,
  run,
}

async function run(given: Arguments): Promise<number> {
  const [id] = given.positionals
  if (id === undefined) throw createUsageError('show needs an ID from pino-ingest spool ls')
  const limit = parseLimit(given)
  const location = locateSpool(given)
  const batchId = isBatchId(id) ? id.toLowerCase() : undefined
  const printer = new EntryPrinter(given.switches.has('json'), limit, location.mask)
  const selection = select(location, batchId === undefined ? id : undefined)
  const problems = await showAll(selection, batchId, printer)
  for (const problem of problems) process.stderr.write(`pino-ingest spool: ${toPrintable(location.mask(problem))}\n`)
  if (batchId !== undefined && printer.count === 0 && problems.length === 0) {
    throw new CommandError('SPOOL', `${location.root} has no waiting or rejected entries of batch ${id}`, EXIT_FAILED)
  }
  printer.end('No entry is waiting.')
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
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(toMessage(error))
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
