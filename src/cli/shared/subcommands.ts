/** Subcommands, such as `spool ls`: creates an overview, or loads the one that runs. */
import { findNearestName } from '../../shared/nearest-name.js'
import { createUsageError } from './command.js'
import type { Command } from './command.js'

export interface SubcommandGroup {
  /** Name as typed, such as `spool`. */
  readonly name: string
  /** Summary in the overview. */
  readonly summary: string
  readonly examples: Command['examples']
  /** Placeholder of the commands' argument. */
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

function createOverview({ name: group, summary, examples, argument, commands }: SubcommandGroup): Command {
  const names = Object.keys(commands)
  const width = Math.max(...names.map((name) => name.length))
  return {
    summary,
    examples,
    usage: [`pino-ingest ${group} COMMAND [${argument}] [FLAGS]`, `pino-ingest ${group} COMMAND --help`],
    flags: {},
    notes: [
      ['Commands:', ...Object.entries(commands).map(([name, one]) => `  ${name.padEnd(width)}  ${one.summary}`)].join(
        '\n',
      ),
    ],
    jsonFailuresTo: 'stdout',
    run: () => Promise.reject(createUsageError(`${group} needs a command: ${names.join(', ')}`)),
  }
}
