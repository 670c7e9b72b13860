/** The dispatcher. It loads only the command that runs, so the pipe starts fast and never loads the local service. */
import { IngestError } from '../shared/errors.js'
import { VERSION } from '../version.js'
import { COMMON_FLAGS, parseArguments } from './shared/arguments.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from './shared/command.js'
import type { Command } from './shared/command.js'
import { formatHelp } from './shared/help.js'
import { formatJsonLine, toPrintable } from './shared/terminal.js'
import { findCommand } from './shared/subcommands.js'
import type { CommandGroup } from './shared/subcommands.js'

const COMMANDS: CommandGroup['commands'] = {
  dev: {
    summary: 'starts the local service and its page for development, optionally with a program',
    load: async () => (await import('./dev/dev-command.js')).devCommand,
  },
  tail: {
    summary: 'prints entries as the local service receives them',
    load: async () => (await import('./tail/tail-command.js')).tailCommand,
  },
  query: {
    summary: "prints matching entries, or counts of a field's values, and exits",
    load: async () => (await import('./query/query-command.js')).queryCommand,
  },
  mcp: {
    summary: 'lets an assistant search the entries of the local service, over MCP',
    load: async () => (await import('./mcp/mcp-command.js')).mcpCommand,
  },
  doctor: {
    summary: 'checks configuration, reachability and key, and shows how to fix problems',
    load: async () => (await import('./doctor/doctor-command.js')).doctorCommand,
  },
  send: {
    summary: 'sends existing log files, and continues where it was interrupted',
    load: async () => (await import('./send/send-command.js')).sendCommand,
  },
  release: {
    summary: 'registers a release, and prints its id',
    load: async () => (await import('./release/release-command.js')).releaseCommand,
  },
  feedback: {
    summary: "sends a user's comment on a logged error",
    load: async () => (await import('./feedback/feedback-command.js')).feedbackCommand,
  },
  heartbeat: {
    summary: 'pings a monitor, immediately or when a program has succeeded',
    load: async () => (await import('./heartbeat/heartbeat-command.js')).heartbeatCommand,
  },
  spool: {
    summary: 'lists, shows, sends and deletes entries that are stored on disk',
    load: async () => (await import('./spool/spool-command.js')).spoolGroup,
  },
  forward: {
    summary: 'delivers batches from NATS JetStream; also creates its streams',
    load: async () => (await import('./forward/forward-command.js')).forwardGroup,
  },
}

const PROGRAM: CommandGroup = {
  name: '',
  summary: 'reads log lines from stdin, sends them to the log service, and copies them to stdout',
  commands: COMMANDS,
  synonyms: { logs: 'tail', start: 'dev', serve: 'dev', version: '--version' },
  loadDefault: async () => (await import('./pipe/pipe-command.js')).pipeCommand,
}

/** @returns the exit code. Never rejects */
export async function runCommandLine(given: readonly string[]): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const asJson = own.includes('--json')
  let afterFailure: Command['afterFailure']
  const words: string[] = []
  try {
    await import('../shared/node-version.js')
    const { command: loaded, commands, summary } = await findCommand(PROGRAM, args, words)
    const command = { ...loaded, flags: { ...loaded.flags, ...COMMON_FLAGS } }
    afterFailure = command.afterFailure
    const parsed = parseArguments(args.slice(words.length), command)
    if (parsed.switches.has('help')) {
      process.stdout.write(
        asJson
          ? formatJsonLine({ summary, commands, ...command })
          : formatHelp(command, ['pino-ingest', ...words].join(' '), summary, commands, process.stdout.columns),
      )
      return EXIT_DONE
    }
    if (parsed.switches.has('version')) {
      process.stdout.write(asJson ? formatJsonLine({ version: VERSION }) : `${VERSION}\n`)
      return EXIT_DONE
    }
    if (parsed.switches.has('debug')) process.env['PINO_INGEST_LOG_TO'] = 'debug'
    return await command.run(parsed)
  } catch (error) {
    const { code, message, exitCode } = toFailure(error)
    if (asJson) process.stderr.write(formatJsonLine({ error: { code, message } }))
    else {
      const prefix = message.startsWith('pino-ingest ') ? '' : 'pino-ingest: '
      const help = code === 'USAGE' ? `See ${['pino-ingest', ...words, '--help'].join(' ')}.\n` : ''
      const details = error instanceof CommandError ? error.details.map((line) => `${line}\n`).join('') : ''
      process.stderr.write(`${prefix}${toPrintable(message)}\n${details}${help}`)
    }
    await afterFailure?.(own)
    return exitCode
  }
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
  // The Node version is too old: a stack trace would not help.
  if (error instanceof Error && 'code' in error && error.code === 'ENGINE')
    return { code: error.code, message: error.message, exitCode: EXIT_FAILED }
  // A bug in this program: the stack trace locates it.
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    exitCode: EXIT_FAILED,
  }
}
