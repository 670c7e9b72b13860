/** `pino-ingest spool …`: inspects and repairs what is stored on disk. Loads only the subcommand that runs. */
import { findNearestName } from '../../options/nearest-name.js'
import { createUsageError } from '../shared/command.js'
import type { Command } from '../shared/command.js'

interface Subcommand {
  readonly summary: string
  readonly load: () => Promise<Command>
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  ls: {
    summary: 'lists destinations, instances and dead letters',
    load: async () => (await import('./spool-ls.js')).lsCommand,
  },
  show: {
    summary: 'shows entries, with the reason if they were rejected',
    load: async () => (await import('./spool-show.js')).showCommand,
  },
  replay: {
    summary: 'sends what ended processes left, and dead letters',
    load: async () => (await import('./spool-replay.js')).replayCommand,
  },
  purge: {
    summary: 'deletes what no process is to send any more',
    load: async () => (await import('./spool-purge.js')).purgeCommand,
  },
}

const NAMES = Object.keys(SUBCOMMANDS)
const WIDTH = Math.max(...NAMES.map((name) => name.length))

const OVERVIEW: Command = {
  summary: 'Lists, shows, sends and deletes entries that are stored on disk until the service has accepted them.',
  usage: ['pino-ingest spool COMMAND [ID] [FLAGS]', 'pino-ingest spool COMMAND --help'],
  flags: {},
  notes: [
    [
      'Commands:',
      ...Object.entries(SUBCOMMANDS).map(([name, { summary }]) => `  ${name.padEnd(WIDTH)}  ${summary}`),
    ].join('\n'),
  ],
  jsonFailuresTo: 'stdout',
  run: () => Promise.reject(createUsageError(`name a command: ${NAMES.join(', ')}`)),
}

/** Rejects with CommandError for an unknown name. */
export async function loadSpoolCommand(name: string | undefined): Promise<Command> {
  if (name === undefined) return OVERVIEW
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined
  if (subcommand !== undefined) return subcommand.load()
  const nearest = findNearestName(name, NAMES)
  throw createUsageError(
    `unknown command spool ${name}, ${nearest === undefined ? `known are ${NAMES.join(', ')}` : `did you mean ${nearest}?`}`,
  )
}
