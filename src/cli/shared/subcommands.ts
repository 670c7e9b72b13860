/** Groups of commands, such as `spool`, and the search for the command that runs. */
import { findNearestName } from '../../shared/nearest-name.js'
import { createUsageError } from './command.js'
import type { Command } from './command.js'

export interface CommandGroup {
  /** Name as typed, such as `forward dead`; empty for the program itself. */
  readonly name: string
  /** Heading of the help; only the root group has one. */
  readonly summary?: string
  readonly commands: Readonly<
    Record<string, { readonly summary: string; readonly load: () => Promise<Command | CommandGroup> }>
  >
  readonly synonyms?: Readonly<Record<string, string>>
  /** Loads the command that runs if no subcommand is named. */
  readonly loadDefault: () => Promise<Command>
}

interface GroupWithOverview extends Pick<CommandGroup, 'name' | 'commands'>, Pick<Command, 'examples'> {
  readonly argument: string
}

/** Creates a group that does nothing without a subcommand. */
export function createGroup({ name, commands, examples, argument }: GroupWithOverview): CommandGroup {
  const overview: Command = {
    examples,
    usage: [`pino-ingest ${name} COMMAND [${argument}] [FLAGS]`, `pino-ingest ${name} COMMAND --help`],
    run: () => Promise.reject(createUsageError(`${name} needs a command: ${Object.keys(commands).join(', ')}`)),
  }
  return { name, commands, loadDefault: () => Promise.resolve(overview) }
}

/**
 * Follows the arguments to a command, and loads only that.
 * @param known receives the words that name it
 * @returns also the commands of the group if the command is its default. Rejects with CommandError for an unknown name
 */
export async function findCommand(
  { name, summary = '', commands, synonyms = {}, loadDefault }: CommandGroup,
  [word = '', ...rest]: readonly string[],
  known: string[],
): Promise<{ readonly command: Command; readonly commands: CommandGroup['commands']; readonly summary: string }> {
  if (word === '' || word.startsWith('-')) return { command: await loadDefault(), commands, summary }
  const entry = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (entry === undefined) {
    const names = Object.keys(commands)
    const nearest = Object.hasOwn(synonyms, word) ? synonyms[word] : findNearestName(word, names)
    throw createUsageError(
      `unknown command ${name === '' ? '' : `${name} `}${word}, ${nearest === undefined ? `known are ${names.join(', ')}` : `did you mean ${nearest}?`}`,
    )
  }
  known.push(word)
  const found = await entry.load()
  return 'commands' in found
    ? findCommand({ ...found, summary: entry.summary }, rest, known)
    : { command: found, commands: {}, summary: entry.summary }
}
