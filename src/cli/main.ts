#!/usr/bin/env node
/** The dispatcher. It loads the one command that is asked for: the pipe starts fast and never loads the service. */
import { IngestError } from '../errors.js'
import { nearestName } from '../options/nearest.js'
import { VERSION } from '../version.js'
import { COMMON_FLAGS, parseArguments } from './arguments.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, usageError } from './command.js'
import type { Command } from './command.js'
import { helpData, helpText } from './help.js'
import { jsonLine, printable } from './printable.js'

interface Listed {
  readonly summary: string
  /** @param words that follow its name, for a command that `takesWords` */
  readonly load: (words: readonly string[], isHelp: boolean) => Promise<Command>
  readonly takesWords?: true
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  dev: { summary: 'starts the local service, for development', load: async () => (await import('./dev.js')).dev },
  doctor: {
    summary: 'checks configuration, reachability and key, and says what to mend',
    load: async () => (await import('./doctor.js')).doctor,
  },
  spool: {
    summary: 'lists, shows, sends and deletes what is kept on disk',
    load: async (words, isHelp) => (await import('./spool.js')).spool(words, isHelp), takesWords: true,
  },
}

async function main(given: readonly string[]): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const [first = ''] = args
  const isPipe = first === '' || first.startsWith('-')
  const asJson = args.includes('--json')
  let failuresTo: Command['jsonFailuresTo'] = 'stdout'
  try {
    const words = isPipe ? [] : wordsOf(first, args.slice(1))
    const loaded = isPipe ? await loadPipe() : await loadCommand(first, words, args)
    failuresTo = loaded.jsonFailuresTo
    const command = { ...loaded, flags: { ...loaded.flags, ...COMMON_FLAGS } }
    const parsed = parseArguments(isPipe ? args : args.slice(1 + words.length), command.flags)
    if (parsed.switches.has('help')) {
      const commands = isPipe ? Object.fromEntries(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])) : {}
      process.stdout.write(asJson ? jsonLine(helpData(command, commands)) : helpText(command, commands))
      return EXIT_DONE
    }
    if (parsed.switches.has('version')) {
      process.stdout.write(asJson ? jsonLine({ version: VERSION }) : `${VERSION}\n`)
      return EXIT_DONE
    }
    return await loaded.run(parsed)
  } catch (error) {
    const { code, message, exitCode } = failureOf(error)
    if (asJson) {
      process[failuresTo].write(jsonLine({ error: { code, message } }))
      return exitCode
    }
    const prefix = message.startsWith('pino-ingest ') ? '' : 'pino-ingest: '
    process.stderr.write(`${prefix}${printable(message)}\n${code === 'USAGE' ? `See pino-ingest ${Object.hasOwn(COMMANDS, first) ? `${first} ` : ''}--help.\n` : ''}`)
    return exitCode
  }
}

async function loadPipe(): Promise<Command> {
  return (await import('./pipe.js')).pipe
}

/** Up to the first flag. */
function wordsOf(name: string, args: readonly string[]): readonly string[] {
  if (!Object.hasOwn(COMMANDS, name) || COMMANDS[name]?.takesWords !== true) return []
  const end = args.findIndex((one) => one.startsWith('-'))
  return end === -1 ? args : args.slice(0, end)
}

function loadCommand(name: string, words: readonly string[], args: readonly string[]): Promise<Command> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command !== undefined) return command.load(words, args.includes('--help') || args.includes('-h'))
  const known = Object.keys(COMMANDS)
  const nearest = nearestName(name, known)
  throw usageError(`unknown command ${name}, ${nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`}`)
}

function failureOf(error: unknown): { readonly code: string, readonly message: string, readonly exitCode: number } {
  if (error instanceof CommandError) return error
  if (error instanceof IngestError) {
    return { code: error.code, message: error.message, exitCode: error.code === 'CONFIG' ? EXIT_USAGE : EXIT_FAILED }
  }
  // A fault of this program: its stack says where.
  return { code: 'INTERNAL', message: error instanceof Error ? error.stack ?? error.message : String(error), exitCode: EXIT_FAILED }
}

// Whoever read them is gone (`| head`): there is no other place to tell it, and no reason to end.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Not `process.exit()`: what is written to a pipe may still be on its way.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
