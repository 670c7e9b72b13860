/** `pino-ingest dev`: the local service in a terminal, alone or together with a program. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TOKEN_VARIABLE } from '../../options/known-variables.js'
import { createIngestService, IngestServiceError } from '../../service/index.js'
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { backgroundClock } from '../../shared/clock.js'
import { IngestError } from '../../shared/errors.js'
import { createRecordFormat } from '../local/record-line.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { createPaint, formatJsonLine, toPrintable } from '../shared/terminal.js'
import { DEFAULT_PORT } from '../local/local-service.js'
import { onTerminationSignal, runChildProcess } from '../shared/child-process.js'
import { findOrCreateToken } from '../shared/token-store.js'
import { ArrivalsPrinter } from './arrivals-printer.js'
import { DEV_FLAGS, parseServiceOptions } from './dev-flags.js'
import { formatStarted, toStartedData } from './dev-format.js'
import { openPage } from './open-page.js'
import { createProgramEnv, runWithProgram } from './run-with-program.js'

export const devCommand: Command = {
  examples: [
    ['npx pino-ingest dev', 'prints the address of the page, then what arrives'],
    ['npx pino-ingest dev -- node app.js', 'also starts an application that logs to it'],
    ['npx pino-ingest dev --load export.ndjson --open', 'opens entries that were exported from the page'],
  ],
  usage: ['pino-ingest dev [FLAGS]', 'pino-ingest dev [FLAGS] -- PROGRAM [ARGUMENTS]'],
  flags: DEV_FLAGS,
  notes: [
    `It prints the address of its page and the variable that connects an application, then one line per received record: entries, HTTP requests (one line each), feedback, releases,
heartbeats, and rejections with their first reason. Ctrl-C ends it.`,
    `The page, tail and the JSON API need a token. It is stored in pino-ingest/dev-token in $XDG_STATE_HOME or ~/.local/state, so that an
open page works after a restart. ${TOKEN_VARIABLE} overrides it.`,
    `The program after -- shares this terminal, receives the signals sent to dev, and sets the exit code. Its environment has the URL of
the local service, and no key, proxy or queue of the real one; options in its code override these. dev prints its messages to stderr,
and received records only with --show. dev ends with the program; on a terminal, without --json, the page remains until Ctrl-C.`,
    `With --json, it prints one line of JSON when it listens (page_url, url, origin, port, token, db, arrived), and no
received records. With a program, the line goes to stderr, and a second line (exit_code, signal, arrived) follows at the end.`,
    "Exit codes: with a program, the program's; otherwise 0 stopped by a signal. 1 the port or file cannot be used, 2 invalid flags.",
  ],
  takesProgram: true,
  flagAdvice: new Map([['host', 'since dev listens on 127.0.0.1 only']]),
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts, program } = given
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
  const format = createRecordFormat(createPaint(out), switches.has('utc'))
  const printer = new ArrivalsPrinter(out, format, backgroundClock)
  const file = texts.get('load')
  let isLoading = file !== undefined
  const onRecords: typeof printer.print = (kind, records) => {
    if (isPrinting && !isLoading) printer.print(kind, records)
  }
  const ended = new Promise<void>((resolve) => {
    if (program === undefined) onTerminationSignal(() => resolve())
  })
  const service = await start({ ...options, token, onProblem: report, onRecords }, program !== undefined)
  try {
    if (file !== undefined) await load(file, service)
    isLoading = false
    const started = asJson ? toStartedData(service, options) : undefined
    if (switches.has('open')) openPage(service.pageUrl, report)
    if (program !== undefined) return await runWithProgram(program, service, started)
    process.stdout.write(started === undefined ? formatStarted(service, options) : formatJsonLine(started))
    await ended
    return EXIT_DONE
  } finally {
    await service.close()
  }
}

/** Runs `send`, with a checkpoint for this run only. @throws CommandError if not all of the file was sent */
async function load(file: string, { url }: IngestService): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'pino-ingest-load-'))
  try {
    const args = ['send', '--quiet', '--send-level', 'trace', '--state', state, '--', file]
    // The application's options, such as sampling and tags, must not change the entries.
    const shell = Object.entries(process.env).filter(([name]) => !/^(?:PINO_INGEST|OTEL)_/i.test(name))
    const { env } = createProgramEnv(Object.fromEntries(shell), url)
    const { exitCode } = await runChildProcess([process.execPath, process.argv[1] ?? '', ...args], env)
    if (exitCode !== 0)
      throw new CommandError(
        'LOAD',
        `only a part of ${file}, or none of it, was loaded; see the message of send above`,
        EXIT_FAILED,
      )
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}

/** A program is given the URL, so it needs no fixed port. */
async function start(options: IngestServiceOptions, hasProgram: boolean): Promise<IngestService> {
  try {
    return await createIngestService({ port: DEFAULT_PORT, ...options })
  } catch (error) {
    if (error instanceof IngestError) throw new CommandError(error.code, error.message, EXIT_USAGE)
    if (!(error instanceof IngestServiceError)) throw error
    if (error.code === 'PORT' && hasProgram && options.port === undefined) return start({ ...options, port: 0 }, true)
    throw new CommandError(error.code, error.message, EXIT_FAILED)
  }
}
