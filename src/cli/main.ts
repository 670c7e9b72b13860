#!/usr/bin/env node
/** The dispatcher. It loads the one command that is asked for: the pipe starts fast and never loads the service. */
import { IngestError } from '../shared/errors.js'
import { findNearestName } from '../options/nearest-name.js'
import { VERSION } from '../version.js'
import { COMMON_FLAGS, parseArguments, parsePositionals } from './shared/arguments.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, createUsageError } from './shared/command.js'
import type { Command, Flags } from './shared/command.js'
import { toHelpData, formatHelp } from './shared/help.js'
import { formatJsonLine, printable } from './shared/printable.js'

interface Listed {
  readonly summary: string
  /**
   * @param words that follow its name, for a command that `takesWords`
   * @param isHelp nothing is missing then
   * @param program what stands behind `--`, for a command that `takesProgram`
   */
  readonly load: (words: readonly string[], isHelp: boolean, program?: readonly string[]) => Promise<Command>
  readonly takesWords?: true
  /** A word may be a secret. */
  readonly hasSecretWords?: true
  readonly takesProgram?: true
}

const COMMANDS: Readonly<Record<string, Listed>> = {
  dev: {
    summary: 'starts the local service and its page, for development: by itself, or beside a program',
    load: async (words, isHelp, program) =>
      (await import('./dev/dev-command.js')).createDevCommand(words, isHelp, program),
    takesWords: true,
    takesProgram: true,
  },
  tail: {
    summary: 'prints what arrives at the local service',
    load: async () => (await import('./tail/tail-command.js')).tailCommand,
  },
  doctor: {
    summary: 'checks configuration, reachability and key, and says what to mend',
    load: async () => (await import('./doctor/doctor-command.js')).doctorCommand,
  },
  send: {
    summary: 'ships existing log files, and goes on where it was interrupted',
    load: async (words, isHelp) => (await import('./send.js')).send(words, isHelp),
    takesWords: true,
  },
  release: {
    summary: 'registers a release, and prints its id',
    load: async () => (await import('./release/release-command.js')).releaseCommand,
  },
  feedback: {
    summary: 'sends what a user says about a logged event',
    load: async () => (await import('./feedback/feedback-command.js')).feedbackCommand,
  },
  heartbeat: {
    summary: 'pings a monitor: at once, or when a program has succeeded',
    load: async (words, isHelp, program) =>
      (await import('./heartbeat/heartbeat-command.js')).createHeartbeatCommand(words, isHelp, program),
    takesWords: true,
    takesProgram: true,
    hasSecretWords: true,
  },
  spool: {
    summary: 'lists, shows, sends and deletes what is kept on disk',
    load: async (words, isHelp) => (await import('./spool/spool-command.js')).createSpoolCommand(words, isHelp),
    takesWords: true,
  },
}

/** What it does without a command. */
const PIPE: Listed = { summary: '', load: async () => (await import('./pipe/pipe-command.js')).pipeCommand }

async function main(given: readonly string[]): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const [first = ''] = args
  const isPipe = first === '' || first.startsWith('-')
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const asJson = own.includes('--json')
  let failuresTo: Command['jsonFailuresTo'] = 'stdout'
  try {
    await import('../shared/node-version.js')
    const listed = isPipe ? PIPE : findCommand(first)
    const { leading, rest, program } = splitArguments(listed, isPipe ? args : args.slice(1))
    // Which of the rest are words, and which are flags' values, only the command's flags tell.
    const shape = await listed.load(leading, true, program)
    failuresTo = shape.jsonFailuresTo
    const { positionals: words, ...parsed } =
      listed.takesWords === true
        ? parsePositionals(rest, withCommonFlags(shape), listed.hasSecretWords)
        : { positionals: [], ...parseArguments(rest, withCommonFlags(shape)) }
    if (parsed.switches.has('help')) {
      const commands = isPipe
        ? Object.fromEntries(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]))
        : {}
      const helped = { ...shape, flags: withCommonFlags(shape) }
      process.stdout.write(asJson ? formatJsonLine(toHelpData(helped, commands)) : formatHelp(helped, commands))
      return EXIT_DONE
    }
    if (parsed.switches.has('version')) {
      process.stdout.write(asJson ? formatJsonLine({ version: VERSION }) : `${VERSION}\n`)
      return EXIT_DONE
    }
    const command = listed.takesWords === true ? await listed.load([...leading, ...words], false, program) : shape
    failuresTo = command.jsonFailuresTo
    return await command.run(parsed)
  } catch (error) {
    const { code, message, exitCode } = toFailure(error)
    if (asJson) {
      process[failuresTo].write(formatJsonLine({ error: { code, message } }))
      return exitCode
    }
    const prefix = message.startsWith('pino-ingest ') ? '' : 'pino-ingest: '
    process.stderr.write(
      `${prefix}${printable(message)}\n${code === 'USAGE' ? `See pino-ingest ${Object.hasOwn(COMMANDS, first) ? `${first} ` : ''}--help.\n` : ''}`,
    )
    return exitCode
  }
}
function findCommand(name: string): Listed {
  const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (listed !== undefined) return listed
  const known = Object.keys(COMMANDS)
  const nearest = findNearestName(name, known)
  throw createUsageError(
    `unknown command ${name}, ${nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`}`,
  )
}

interface SplitArguments {
  /** Words up to the first flag. */
  readonly leading: readonly string[]
  readonly rest: readonly string[]
  /** Behind `--`; undefined without it. */
  readonly program?: readonly string[]
}

function splitArguments({ takesWords, takesProgram }: Listed, args: readonly string[]): SplitArguments {
  const end = takesProgram === true ? args.indexOf('--') : -1
  const own = end === -1 ? args : args.slice(0, end)
  const flagsAt = takesWords === true ? own.findIndex((one) => one.startsWith('-')) : 0
  const leading = own.slice(0, flagsAt === -1 ? own.length : flagsAt)
  return { leading, rest: own.slice(leading.length), ...(end !== -1 && { program: args.slice(end + 1) }) }
}

function withCommonFlags({ flags }: Command): Flags {
  return { ...flags, ...COMMON_FLAGS }
}

function toFailure(error: unknown): { readonly code: string; readonly message: string; readonly exitCode: number } {
  if (error instanceof CommandError) return error
  if (error instanceof IngestError) {
    return {
      code: error.code,
      message: error.message,
      exitCode: error.code === 'CONFIG' || error.code === 'INVALID' ? EXIT_USAGE : EXIT_FAILED,
    }
  }
  // An engine that is too old: its user has no use for a stack.
  if (error instanceof Error && 'code' in error && error.code === 'ENGINE')
    return { code: error.code, message: error.message, exitCode: EXIT_FAILED }
  // A fault of this program: its stack says where.
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    exitCode: EXIT_FAILED,
  }
}

// Whoever read them is gone (`| head`): there is no other place to tell it, and no reason to end.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Not `process.exit()`: what is written to a pipe may still be on its way.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
