/** Commands of a command, such as `spool ls`: an overview, and the one that runs, which alone is loaded. */
import { findNearestName } from '../../options/nearest-name.js'
import { createUsageError } from './command.js'
import type { Command } from './command.js'

export interface SubcommandGroup {
  /** Of the group, as typed: `spool`. */
  readonly name: string
  /** Of the overview. */
  readonly summary: string
  /** The argument that its commands take. */
  readonly argument: string
  readonly commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>>
}

/** @returns the overview if no command is named. Rejects with CommandError for an unknown name */
export async function loadSubcommand(group: SubcommandGroup, name: string | undefined): Promise<Command> {
  if (name === undefined) return createOverview(group)
  const { commands } = group
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) return command.load()
  const names = Object.keys(commands)
  const nearest = findNearestName(name, names)
  throw createUsageError(
    `unknown command ${group.name} ${name}, ${nearest === undefined ? `known are ${names.join(', ')}` : `did you mean ${nearest}?`}`,
  )
}

function createOverview({ name: group, summary, argument, commands }: SubcommandGroup): Command {
  const names = Object.keys(commands)
  const width = Math.max(...names.map((name) => name.length))
  return {
    summary,
    usage: [`pino-ingest ${group} COMMAND [${argument}] [FLAGS]`, `pino-ingest ${group} COMMAND --help`],
    flags: {},
    notes: [
      ['Commands:', ...Object.entries(commands).map(([name, one]) => `  ${name.padEnd(width)}  ${one.summary}`)].join(
        '\n',
      ),
    ],
    jsonFailuresTo: 'stdout',
    run: () => Promise.reject(createUsageError(`name a command: ${names.join(', ')}`)),
  }
}
