/** `app | pino-ingest`: ships the lines of stdin and passes its bytes through. */
import { StringDecoder } from 'node:string_decoder'
import type { AccountSnapshot } from '../../diagnostics/account.js'
import { systemClock } from '../../shared/clock.js'
import { loadHook } from '../../filter/load-hook.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import { Pipeline } from '../../pipeline/pipeline.js'
import type { EmitEvent } from '../../diagnostics/reporter.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { PassThrough } from './pass-through.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'

export const pipeCommand: Command = {
  summary: 'Reads log lines from stdin, ships them to the service, and passes them through to stdout.',
  usage: ['node app.js | pino-ingest [FLAGS]', 'pino-ingest COMMAND [FLAGS]', 'pino-ingest COMMAND --help'],
  flags: {
    quiet: { short: 'q', meaning: 'passes nothing through' },
    ...OPTION_FLAGS,
    version: { short: 'v', meaning: 'shows the version' },
  },
  notes: [
    KEY_NOTE,
    `It reads to the end of stdin, also when the service is down or nobody reads stdout any more. The first Ctrl-C
ends only the application before the pipe, whose last lines are still read; the second ends the reading, the third everything. At
the end it delivers for at most PINO_INGEST_SHUTDOWN_TIMEOUT_MS.`,
    `With --json stderr has one JSON object a line: {"event":"ingest:problem",…}, ingest:rejected and ingest:dropped as they happen,
and at the end {"event":"account",…}, which says what became of every record. stdout still has the input.`,
    'Exit codes: 0 everything was delivered, 1 something was not (what is kept on disk goes with the next start), 2 wrong flags or configuration.',
  ],
  jsonFailuresTo: 'stderr',
  run,
}

/** What `--json` tells; the rest is in the account. */
const REPORTED_EVENTS: readonly string[] = ['ingest:problem', 'ingest:rejected', 'ingest:dropped']

async function run(given: Arguments): Promise<number> {
  const asJson = given.switches.has('json')
  const resolved = resolveFromProcess(parseOptionFlags(given))
  const isSilent = resolved.onProblem === 'silent'
  const settings = asJson ? { ...resolved, onProblem: 'silent' as const } : resolved
  const emit: EmitEvent = (name, payload) => {
    if (asJson && !isSilent && REPORTED_EVENTS.includes(name))
      process.stderr.write(formatJsonLine({ event: name, ...payload }))
  }
  const say = (text: string): void => {
    if (!asJson && !isSilent) process.stderr.write(`pino-ingest: ${printable(text)}\n`)
  }
  const hook = settings.beforeSend === undefined ? undefined : await loadHook(settings.beforeSend)
  const pipeline = new Pipeline({ settings, hook, clock: systemClock, emit })
  if (process.stdin.isTTY)
    say('reads log lines from stdin, as in: node app.js | pino-ingest. Type some, Ctrl-D ends; see --help')

  const { isBroken, isInterrupted } = await ship(pipeline, given.switches.has('quiet'), say)
  const account = pipeline.snapshot
  const code = countUndelivered(account) === 0 && !isBroken ? EXIT_DONE : EXIT_FAILED
  if (asJson) process.stderr.write(formatJsonLine({ event: 'account', ...account }))
  else if (countUndelivered(account) > 0) say(formatSummary(account))
  // An application that goes on, or a reader that stalls, would hold the process.
  if (isInterrupted) process.exit(code)
  return code
}

interface Shipped {
  /** stdin or stdout failed. */
  readonly isBroken: boolean
  /** Signals ended it before its time. */
  readonly isInterrupted: boolean
}

async function ship(pipeline: Pipeline, isQuiet: boolean, say: (text: string) => void): Promise<Shipped> {
  const { stdin } = process
  let state: 'reading' | 'delivering' = 'reading'
  let isBroken = false
  let isInterrupted = false
  const fail = (text: string): void => {
    isBroken = true
    say(text)
  }
  const out = new PassThrough(process.stdout, {
    onRoom: () => void (state === 'reading' && stdin.resume()),
    onFailure: (error) => fail(`cannot write to stdout (${error.code ?? error.message}), but goes on shipping`),
  })
  let stopReading = (): void => {}
  let giveUp = (): void => {}
  const read = new Promise<void>((resolve) => (stopReading = resolve))
  const givenUp = new Promise<void>((resolve) => (giveUp = resolve))
  onTerminationSignal((times) => {
    if (times === 1) return state === 'reading' ? say('goes on until stdin ends; asked again, it ends now') : undefined
    isInterrupted = true
    out.close()
    if (state === 'reading') {
      say('reads no more, and delivers what it has; asked again, it ends at once')
      return stopReading()
    }
    pipeline.abandon()
    giveUp()
  })

  const decoder = new StringDecoder('utf8')
  stdin.on('data', (chunk: Buffer) => {
    if (state !== 'reading') return
    pipeline.records.write(decoder.write(chunk))
    // What was read is shipped all the same while stdout is waited for.
    if (!isQuiet && !out.write(chunk)) stdin.pause()
  })
  stdin.once('end', stopReading)
  stdin.once('error', (error: NodeJS.ErrnoException) => {
    fail(`cannot read stdin (${error.code ?? error.message})`)
    stopReading()
  })
  await read
  state = 'delivering'
  stdin.pause()
  pipeline.records.write(decoder.end())
  pipeline.end()
  await Promise.race([Promise.all([pipeline.close(), out.finish()]), givenUp])
  return { isBroken, isInterrupted }
}

function countUndelivered({ received, filtered, accepted }: AccountSnapshot): number {
  return received - filtered - accepted
}

function formatSummary(account: AccountSnapshot): string {
  const { received, filtered, accepted, rejected, dropped, pending } = account
  const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0)
  return `delivered ${accepted} of ${received - filtered} entries; ${pending} kept on disk, ${lost} dropped, ${rejected} rejected`
}
