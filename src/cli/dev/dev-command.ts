/** `pino-ingest dev`: the local service in a terminal, by itself or beside a program. */
import { backgroundClock } from '../../shared/clock.js'
import { createIngestService, IngestServiceError } from '../../service/index.js'
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { findToken, TOKEN_VARIABLE } from '../../options/dev-token.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { runWithProgram } from './run-with-program.js'
import { DEV_FLAGS, parseServiceOptions } from './dev-flags.js'
import { probePort } from '../shared/port-probe.js'
import { ArrivalsPrinter } from './arrivals-printer.js'
import { findOrCreateToken } from '../shared/token-store.js'
import { formatPortTaken, toStartedData, formatStarted } from './dev-format.js'
import { createPaint } from '../shared/paint.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'

/** @param program behind `--` @throws CommandError */
export function createDevCommand(words: readonly string[], isHelp: boolean, program?: readonly string[]): Command {
  if (words.length > 0)
    throw createUsageError(
      `dev takes no words, got ${words[0] ?? ''}; a program goes behind --, as in: pino-ingest dev -- node app.js`,
    )
  if (!isHelp && program !== undefined && (program[0] ?? '') === '')
    throw createUsageError('dev has no program behind --')
  return {
    summary:
      'Starts the local service on loopback, for development: takes any key, checks strictly, shows what arrives.',
    usage: ['pino-ingest dev [FLAGS]', 'pino-ingest dev [FLAGS] -- PROGRAM [ARGUMENTS]'],
    flags: DEV_FLAGS,
    notes: [
      `It prints the address of its page first. Then it shows what arrives, each on a line: entries with time (UTC), level, service and
message, HTTP requests, feedback, releases, heartbeats, and what was refused with the first reason. Ctrl-C ends it.`,
      `The page, tail and the JSON API want a token. It is kept for you in $XDG_STATE_HOME or ~/.local/state, in pino-ingest/dev-token,
so that an open page outlives a restart; ${TOKEN_VARIABLE} wins over it.`,
      `The program behind -- has this terminal's stdin, stdout and stderr, gets the signals that come here, and gives its exit code: 128 and
the signal's number where a signal ended it, 127 where it is not found, 126 where it cannot be run. Its environment brings it here:
PINO_INGEST_URL, _API_KEY and _ENABLED win over the shell's, _API_KEY_FILE, _PREVIOUS_API_KEYS and _TLS_* are emptied, and
PINO_INGEST_SPOOL is false unless a spool is set. What it gives in code still wins. dev itself speaks on stderr, and shows what
arrives with --show only. When the program has ended, dev waits until all is stored and ends too; on a terminal, without --json, the
page stays until Ctrl-C.`,
      `With --json it prints one line of JSON when it listens (page_url, url, origin, port, token, db, arrived, queries), and nothing of
what arrives; with a program on stderr, and a second line at its end (exit_code, signal, arrived).`,
      "Exit codes: the program's. Without one 0 ended by a signal. 1 the port or the file cannot be used, 2 wrong flags.",
    ],
    jsonFailuresTo: program === undefined ? 'stdout' : 'stderr',
    run: (given) => run(given, program),
  }
}

async function run(given: Arguments, program: readonly string[] | undefined): Promise<number> {
  const { switches } = given
  const asJson = switches.has('json')
  if (switches.has('show') && (program === undefined || asJson || switches.has('quiet'))) {
    throw createUsageError(
      '--show is for a program behind --, without --json and --quiet; without a program what arrives is shown anyway',
    )
  }
  const options = parseServiceOptions(given)
  const { token, note } = findOrCreateToken(process.env)
  const tell = (message: string): void => void process.stderr.write(`pino-ingest dev: ${printable(message)}\n`)
  if (note !== undefined) tell(note)
  const isShown = program === undefined ? !asJson && !switches.has('quiet') : switches.has('show')
  const out = program === undefined ? process.stdout : process.stderr
  const show = new ArrivalsPrinter(out, createPaint(out, process.env), backgroundClock)
  const ended = new Promise<void>((resolve) => {
    if (program === undefined) onTerminationSignal(() => resolve())
  })
  const service = await start(
    { ...options, token, onProblem: tell, ...(isShown && { onRecords: show.print }) },
    program,
  )
  try {
    const started = asJson ? toStartedData(service, options) : undefined
    if (program !== undefined) return await runWithProgram(program, service, started)
    // Another terminal may not have the variable.
    const isTokenFound = findToken({ ...process.env, [TOKEN_VARIABLE]: undefined }).token === token
    process.stdout.write(
      started === undefined ? formatStarted(service, options, isTokenFound) : formatJsonLine(started),
    )
    await ended
    return EXIT_DONE
  } finally {
    await service.close()
  }
}

async function start(options: IngestServiceOptions, program: readonly string[] | undefined): Promise<IngestService> {
  try {
    return await createIngestService(options)
  } catch (error) {
    if (!(error instanceof IngestServiceError)) throw error
    const { host = '127.0.0.1', port = 0 } = options
    const origin = `http://${host === '::1' ? '[::1]' : host}:${port}`
    const isRunning = error.code === 'PORT' && (await probePort(origin)) === 'local-service'
    throw new CommandError(
      error.code,
      isRunning ? formatPortTaken(origin, program) : error.message,
      error.code === 'OPTION' ? EXIT_USAGE : EXIT_FAILED,
    )
  }
}
