/** `app | pino-ingest`: sends the lines of stdin and copies its bytes to stdout. */
import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import build from 'pino-abstract-transport'
import type { AccountSnapshot } from '../../diagnostics/account.js'
import type { EmitEvent } from '../../diagnostics/reporter.js'
import { loadHook } from '../../filter/load-hook.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import { Pipeline } from '../../pipeline/pipeline.js'
import { systemClock } from '../../shared/clock.js'
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'
import { onTerminationSignal } from '../shared/child-process.js'
import { StdoutCopy } from './stdout-copy.js'

export const pipeCommand: Command = {
  examples: [
    ['node app.js | npx pino-ingest', 'sends what the application logs to stdout'],
    ['npx pino-ingest dev -- node app.js', 'development: also starts a local service and its page'],
    ['npx pino-ingest doctor', 'checks configuration, reachability and key'],
  ],
  usage: ['pino-ingest [FLAGS]', 'pino-ingest COMMAND [FLAGS]', 'pino-ingest COMMAND --help'],
  flags: {
    quiet: { short: 'q', meaning: 'does not copy the input to stdout' },
    ...OPTION_FLAGS,
    version: { short: 'v', meaning: 'shows the version' },
  },
  notes: [
    KEY_NOTE,
    `It reads to the end of stdin, even if the log service is down or stdout was closed. The first Ctrl-C ends only the application, whose
last lines are still read; the second ends reading, the third ends the process.`,
    `With --json, stderr has one JSON object per line: {"event":"ingest:problem",…}, ingest:rejected and ingest:dropped as they
happen, and at the end {"event":"account",…} with the outcome of every record. stdout is still a copy of the input.`,
    'Exit codes: 0 everything was delivered, 1 some entries were not (the next start sends entries on disk), or stdin or stdout failed, 2 invalid flags or configuration: the input is copied, and nothing is sent.',
  ],
  // A first argument without dashes is a command.
  argumentAdvice: 'put the command before all flags',
  flagAdvice: new Map(['port', 'open', 'db', 'load'].map((flag) => [flag, `did you mean: dev --${flag}?`])),
  run,
  afterFailure,
}

/** After this time without input, a line is no longer joined with the lines below it. */
const MAX_SILENCE_MS = 100

/** Events that `--json` prints. The account includes the others. */
const PRINTED_EVENTS: readonly string[] = ['ingest:problem', 'ingest:rejected', 'ingest:dropped']

/** Invalid flags must not break the pipe: the application would receive EPIPE. */
async function afterFailure(args: readonly string[]): Promise<void> {
  const isQuiet = args.includes('--quiet') || args.includes('-q')
  if (process.stdin.isTTY || process.stdin.readableEnded) return
  if (!args.includes('--json'))
    process.stderr.write(`Nothing is sent; the input is ${isQuiet ? 'discarded' : 'copied to stdout'}.\n`)
  const { isInterrupted } = await readInput({ isQuiet, print: () => {}, receive: () => {} })
  if (isInterrupted) process.exit(EXIT_USAGE)
}

async function run(given: Arguments): Promise<number> {
  const asJson = given.switches.has('json')
  const resolved = resolveFromProcess(parseOptionFlags(given))
  const isSilent = resolved.logTo === 'silent'
  const settings = asJson ? { ...resolved, logTo: 'silent' as const } : resolved
  const emit: EmitEvent = (name, payload) => {
    if (asJson && !isSilent && PRINTED_EVENTS.includes(name))
      process.stderr.write(formatJsonLine({ event: name, ...payload }))
  }
  const print = (text: string): void => {
    if (!asJson && !isSilent) process.stderr.write(`pino-ingest: ${toPrintable(text)}\n`)
  }
  const hook = settings.beforeSend === undefined ? undefined : await loadHook(settings.beforeSend, settings.secrets)
  const pipeline = new Pipeline({ settings, hook, clock: systemClock, emit, joinsLines: true })
  if (process.stdin.isTTY)
    print('reads log lines from stdin, as in: node app.js | pino-ingest. Ctrl-D ends the input; see --help')

  const { hasFailed, isInterrupted } = await send(pipeline, given.switches.has('quiet'), print)
  const account = pipeline.snapshot
  const code = countUndelivered(account) === 0 && !hasFailed ? EXIT_DONE : EXIT_FAILED
  if (asJson) process.stderr.write(formatJsonLine({ event: 'account', ...account }))
  else if (countUndelivered(account) > 0) print(formatSummary(account))
  // Otherwise an application that keeps running, or a stalled reader, keeps the process alive.
  if (isInterrupted) process.exit(code)
  return code
}

interface Reading {
  /** stdin or stdout failed. */
  readonly hasFailed: boolean
  /** Signals ended reading before the end of the input. */
  readonly isInterrupted: boolean
}

interface ReadOptions {
  readonly isQuiet: boolean
  readonly print: (text: string) => void
  readonly receive: (chunk: Buffer) => void
  /** Called when nothing was received for `MAX_SILENCE_MS`, and nothing waits to be received. */
  readonly onSilence?: () => void
  /** Called after reading; delivers what was received. */
  readonly close?: () => Promise<void>
  /** Called for a signal after reading. */
  readonly abandon?: () => void
}

async function send(pipeline: Pipeline, isQuiet: boolean, print: (text: string) => void): Promise<Reading> {
  const { records } = pipeline
  const decoder = new StringDecoder('utf8')
  let abandon = (): void => {}
  const abandoned = new Promise<void>((resolve) => {
    abandon = () => {
      pipeline.abandon()
      resolve()
    }
  })
  const close = async (): Promise<void> => {
    records.write(decoder.end())
    pipeline.endInput()
    await Promise.race([pipeline.close(), abandoned])
  }
  const receive = (chunk: Buffer): void => records.write(decoder.write(chunk))
  return readInput({ isQuiet, print, receive, onSilence: () => records.flushLines(), close, abandon })
}

/**
 * Reads stdin to its end or to the second signal, and copies it to stdout while stdout can be written.
 * @returns what had happened when everything was delivered
 */
async function readInput({ isQuiet, print, receive, onSilence, close, abandon }: ReadOptions): Promise<Reading> {
  const { stdin } = process
  const state = { hasFailed: false, isInterrupted: false }
  let isReading = true
  const input = build((lines) => void lines.resume(), {
    parse: 'lines',
    metadata: false,
    close: async () => {
      isReading = false
      clearTimeout(silence)
      await close?.()
    },
  })
  let chunks = 0
  const silence = setTimeout(() => {
    const read = chunks
    // In the next turn of the event loop, because text may wait to be read while this process is busy or suspended.
    setImmediate(() => {
      if (chunks !== read || !isReading) return
      if (stdin.isPaused()) silence.refresh()
      else onSilence?.()
    })
  }, MAX_SILENCE_MS)
  // The pipeline splits the lines, for a twentieth of the time, and cuts a line that would fill the memory.
  input._transform = (chunk: Buffer, _encoding, done) => {
    chunks += 1
    silence.refresh()
    receive(chunk)
    done()
  }
  input._flush = (done) => done()
  onTerminationSignal((times) => {
    if (times === 1) return isReading ? print('reads until stdin ends; another signal ends it now') : undefined
    state.isInterrupted = true
    if (!isReading) return abandon?.()
    print('stops reading and delivers the lines read so far; another signal ends the process')
    input.destroy()
  })
  stdin.once('error', (error: NodeJS.ErrnoException) => {
    state.hasFailed = true
    print(`cannot read stdin (${error.code ?? error.message})`)
    input.destroy()
  })
  // What was read is delivered even while stdout is full. `stdin.pipe(input)` would resume stdin nevertheless.
  const copy = isQuiet
    ? undefined
    : new StdoutCopy({
        onReady: () => void (isReading && stdin.resume()),
        onError: (error) => {
          if (error.code === 'EPIPE') return
          state.hasFailed = true
          print(`cannot write to stdout (${error.code ?? error.message}); entries are still sent`)
        },
      })
  stdin.on('data', (chunk: Buffer) => {
    if (!isReading) return
    input.write(chunk)
    if (copy?.write(chunk) === false) stdin.pause()
  })
  stdin.once('end', () => input.end())
  await once(input, 'close')
  stdin.pause()
  return state
}

/** Entries of the input, of earlier processes and of the transport itself. */
function countEntries({ received, recovered, generated, filtered }: AccountSnapshot): number {
  return received + recovered + generated - filtered
}

function countUndelivered(account: AccountSnapshot): number {
  return countEntries(account) - account.accepted
}

function formatSummary(account: AccountSnapshot): string {
  const { accepted, rejected, dropped, pending } = account
  const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0)
  return `delivered ${accepted} of ${countEntries(account)} entries; ${pending} kept on disk, ${lost} dropped, ${rejected} rejected`
}
