/** `pino-ingest forward dead ls`: how many entries were rejected, by endpoint and reason. */
import { PATHS } from '../../protocol/limits.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatDeadLetterCount, formatRejection } from '../shared/entry-printer.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import { formatColumns, formatJsonLine, formatNumber, toPrintable } from '../shared/terminal.js'
import { withDeadLetters } from './selected-dead-letters.js'

export const deadLsCommand: Command = {
  examples: [['npx pino-ingest forward dead ls', 'rejected entries by endpoint and reason']],
  notes: [
    NATS_NOTE,
    'With --json, it prints one object: stream, entries, groups of endpoint, reason and count.',
    'Exit codes: 0 done, 1 the stream cannot be read, 2 invalid flags or configuration.',
  ],
  run,
}

/** Reasons can quote the entry and then all differ. Above this limit they are counted as one group. */
const MAX_GROUPS = 1_000

async function run(given: Arguments): Promise<number> {
  const counts = new Map<string, { readonly endpoint: string; readonly reason: string; count: number }>()
  let entries = 0
  const stream = await withDeadLetters(given, async (letters, { names, mask }) => {
    for await (const letter of letters) {
      entries += 1
      const endpoint = letter.kind === 'logs' ? PATHS.ingest : PATHS.requests
      const named = mask(formatRejection(letter))
      const reason = counts.size < MAX_GROUPS || counts.has(`${endpoint} ${named}`) ? named : 'other reasons'
      const key = `${endpoint} ${reason}`
      counts.set(key, { endpoint, reason, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    return names.deadStream
  })
  const groups = [...counts.values()].toSorted((one, other) => other.count - one.count)
  const rows = groups.map(({ endpoint, reason, count }) => [
    formatNumber(count).padStart(7),
    endpoint,
    toPrintable(reason),
  ])
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ stream, entries, groups })
      : [`${formatDeadLetterCount(entries)} in ${stream}`, ...formatColumns(rows)].map((line) => `${line}\n`).join(''),
  )
  return EXIT_DONE
}
