/** `pino-ingest dev`: the local service in a terminal, alone or together with a program. */
import { findToken, TOKEN_VARIABLE } from '../../options/dev-token.js'
import { createIngestService, IngestServiceError } from '../../service/index.js'
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { backgroundClock } from '../../shared/clock.js'
import { IngestError } from '../../shared/errors.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { createPaint } from '../shared/paint.js'
import { probePort } from '../shared/port-probe.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { findOrCreateToken } from '../shared/token-store.js'
import { ArrivalsPrinter } from './arrivals-printer.js'
import { DEV_FLAGS, parseServiceOptions } from './dev-flags.js'
import { formatPortTaken, formatStarted, toStartedData } from './dev-format.js'
import { runWithProgram } from './run-with-program.js'

export const devCommand: Command = {
  summary:
    'Starts the local service on loopback, for development: accepts any key, validates strictly, prints received records.',
  examples: [
    ['npx pino-ingest dev', 'prints the address of the page, then what arrives'],
    ['npx pino-ingest dev -- node app.js', 'also starts an application that logs to it'],
    ['npx pino-ingest dev --db logs.ndjson', 'keeps the records for the next start'],
  ],
  usage: ['pino-ingest dev [FLAGS]', 'pino-ingest dev [FLAGS] -- PROGRAM [ARGUMENTS]'],
  flags: DEV_FLAGS,
  notes: [
    `It prints the address of its page, then one line per received record: entries with time (UTC), level, service and
message, HTTP requests, feedback, releases, heartbeats, and rejections with their first reason. Ctrl-C ends it.`,
    `The page, tail and the JSON API need a token. It is stored in pino-ingest/dev-token in $XDG_STATE_HOME or ~/.local/state, so that an
open page works after a restart. ${TOKEN_VARIABLE} overrides it.`,
    `The program after -- shares this terminal's stdin, stdout and stderr, receives the signals sent to dev, and sets the
exit code: 128 plus the number of the signal that ended it, 127 if it is not found, 126 if it cannot be run. In its environment
PINO_INGEST_URL, _API_KEY and _ENABLED are set to the local service, _API_KEY_FILE, _PREVIOUS_API_KEYS, _HEADERS, _PROXY, _TLS_* and
_NATS_* are empty, and PINO_INGEST_SPOOL is false unless a spool is set. Options in its code override these. dev prints its messages to stderr, and
received records only with --show. When the program has ended and its requests are handled, dev ends; on a terminal, without
--json, the page remains available until Ctrl-C.`,
    `With --json, it prints one line of JSON when it listens (page_url, url, origin, port, token, db, arrived), and no
received records. With a program, the line goes to stderr, and a second line (exit_code, signal, arrived) follows at the end.`,
    "Exit codes: with a program, the program's; otherwise 0 stopped by a signal. 1 the port or file cannot be used, 2 invalid flags.",
  ],
  takesProgram: true,
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, program } = given
  const asJson = switches.has('json')
  if (switches.has('show')) {
    if (program === undefined)
      throw createUsageError('--show needs a program after --; without a program received records are always printed')
    const other = ['json', 'quiet'].find((name) => switches.has(name))
    if (other !== undefined) throw createUsageError(`--show and --${other} cannot be combined; omit one of them`)
  }
  const options = parseServiceOptions(given)
  const { token, note } = findOrCreateToken(process.env)
  const report = (message: string): void => void process.stderr.write(`pino-ingest dev: ${toPrintable(message)}\n`)
  if (note !== undefined) report(note)
  const isPrinting = program === undefined ? !asJson && !switches.has('quiet') : switches.has('show')
  const out = program === undefined ? process.stdout : process.stderr
  const printer = new ArrivalsPrinter(out, createPaint(out), backgroundClock)
  const ended = new Promise<void>((resolve) => {
    if (program === undefined) onTerminationSignal(() => resolve())
  })
  const service = await start(
    { ...options, token, onProblem: report, ...(isPrinting && { onRecords: printer.print }) },
    program,
  )
  try {
    const started = asJson ? toStartedData(service, options) : undefined
    if (program !== undefined) return await runWithProgram(program, service, started)
    // Without the variable, since another terminal may not have it.
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
    if (error instanceof IngestError) throw new CommandError(error.code, error.message, EXIT_USAGE)
    if (!(error instanceof IngestServiceError)) throw error
    const { host = '127.0.0.1', port = 0 } = options
    const origin = `http://${host === '::1' ? '[::1]' : host}:${port}`
    const isRunning = error.code === 'PORT' && (await probePort(origin)) === 'local-service'
    const message = isRunning ? formatPortTaken(origin, program) : error.message
    throw new CommandError(error.code, message, EXIT_FAILED)
  }
}
