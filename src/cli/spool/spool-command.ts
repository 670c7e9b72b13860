/** `pino-ingest spool …`: what lies on disk, for people. Loads the one of its commands that is asked for. */
import { findNearestName } from '../../options/nearest-name.js'
import { createUsageError } from '../shared/command.js'
import type { Command } from '../shared/command.js'

interface Subcommand {
  readonly summary: string
  /** Whether it takes one ID: it must have it, may have it, or must not. */
  readonly id: 'required' | 'optional' | 'none'
  readonly load: (id: string | undefined) => Promise<Command>
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  ls: {
    summary: 'lists what is kept, by whom, and since when',
    id: 'none',
    load: async () => (await import('./spool-ls.js')).lsCommand,
  },
  show: {
    summary: 'shows entries, with the reason where they were refused',
    id: 'required',
    load: async (id = '') => (await import('./spool-show.js')).createShowCommand(id),
  },
  replay: {
    summary: 'sends what dead instances left, and dead letters',
    id: 'optional',
    load: async (id) => (await import('./spool-replay.js')).createReplayCommand(id),
  },
  purge: {
    summary: 'deletes what nobody is to send any more',
    id: 'optional',
    load: async (id) => (await import('./spool-purge.js')).createPurgeCommand(id),
  },
}

const width = Math.max(...Object.keys(SUBCOMMANDS).map((name) => name.length))

const overview: Command = {
  summary: 'Lists, shows, sends and deletes what is kept on disk until the service has taken it.',
  usage: ['pino-ingest spool COMMAND [ID] [FLAGS]', 'pino-ingest spool COMMAND --help'],
  flags: {},
  notes: [
    [
      'Commands:',
      ...Object.entries(SUBCOMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    ].join('\n'),
  ],
  jsonFailuresTo: 'stdout',
  run: () => Promise.reject(createUsageError(`say what to do: ${Object.keys(SUBCOMMANDS).join(', ')}`)),
}

/** @param words behind `spool`: its command, and an ID @throws CommandError */
export async function createSpoolCommand([name, id, ...more]: readonly string[], isHelp: boolean): Promise<Command> {
  if (name === undefined) return overview
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined
  if (subcommand === undefined) {
    const known = Object.keys(SUBCOMMANDS)
    const nearest = findNearestName(name, known)
    throw createUsageError(
      `unknown command spool ${name}, ${nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`}`,
    )
  }
  const unexpected = subcommand.id === 'none' ? id : more[0]
  if (unexpected !== undefined) throw createUsageError(`unexpected argument ${unexpected} after spool ${name}`)
  if (subcommand.id === 'required' && id === undefined && !isHelp)
    throw createUsageError(`spool ${name} needs an ID, as pino-ingest spool ls prints them`)
  return subcommand.load(id)
}
