/** `pino-ingest forward dead …`: entries that the service rejected. Loads only the subcommand that runs. */
import { findNearestName } from '../../options/nearest-name.js'
import { createUsageError } from '../shared/command.js'
import type { Command } from '../shared/command.js'

interface Subcommand {
  readonly summary: string
  readonly load: () => Promise<Command>
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  ls: {
    summary: 'counts them by endpoint and reason',
    load: async () => (await import('./forward-dead-ls.js')).deadLsCommand,
  },
  show: {
    summary: 'shows them with the reason',
    load: async () => (await import('./forward-dead-show.js')).deadShowCommand,
  },
  replay: {
    summary: 'publishes them to the queue again',
    load: async () => (await import('./forward-dead-replay.js')).deadReplayCommand,
  },
}

const NAMES = Object.keys(SUBCOMMANDS)
const WIDTH = Math.max(...NAMES.map((name) => name.length))

const OVERVIEW: Command = {
  summary: 'Lists, shows and sends again the entries of a fleet that the service rejected.',
  usage: ['pino-ingest forward dead COMMAND [BATCH_ID] [FLAGS]', 'pino-ingest forward dead COMMAND --help'],
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
export async function loadForwardDeadCommand(name: string | undefined): Promise<Command> {
  if (name === undefined) return OVERVIEW
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined
  if (subcommand !== undefined) return subcommand.load()
  const nearest = findNearestName(name, NAMES)
  throw createUsageError(
    `unknown command forward dead ${name}, ${nearest === undefined ? `known are ${NAMES.join(', ')}` : `did you mean ${nearest}?`}`,
  )
}
