/** `pino-ingest send FILE...`: ships log files that are there already, and goes on where it was interrupted. */
import { systemClock } from '../shared/clock.js'
import { loadHook } from '../filter/load-hook.js'
import { maskDeep, createSecretMask } from '../diagnostics/secret-mask.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import { readMachine } from '../spool/instance/ownership.js'
import { destinationName } from '../spool/spool-root.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, createUsageError } from './shared/command.js'
import type { Arguments, Command } from './shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from './shared/option-flags.js'
import { formatJsonLine, printable } from './shared/printable.js'
import type { FileResult } from './send/file-run.js'
import { StateFolder, defaultStateDir } from './send/folder.js'
import { optionsTag } from './send/options-tag.js'
import { Meter } from './send/progress.js'
import type { Progress } from './send/progress.js'
import { isWell, leftOutText, resultData, resultText, totalOf, totalText } from './send/result.js'
import { Screen } from './send/screen.js'
import { SendRun } from './send/send-run.js'
import { onTerminationSignal } from './shared/termination-signals.js'
import { parseInteger } from './shared/quantities.js'

const MAX_CONCURRENCY = 256

/** @param names of the files; `-` is stdin @throws CommandError */
export function send(names: readonly string[], isHelp: boolean): Command {
  if (names.length === 0 && !isHelp) throw createUsageError('send needs the name of a FILE, or - for stdin')
  return {
    summary:
      'Ships log files that are there already, plain or gzip; interrupted, the same command goes on where it was.',
    usage: ['pino-ingest send FILE... [FLAGS]', 'zstd -dc FILE | pino-ingest send - [FLAGS]'],
    flags: {
      quiet: { short: 'q', meaning: 'shows problems only' },
      restart: { meaning: 'sends all of it again, whatever was sent before' },
      concurrency: {
        value: 'N',
        meaning: 'requests at once (1); with more a kill may leave as many batches to be sent twice',
      },
      state: { value: 'DIR', meaning: 'folder in which it records what was sent (~/.local/state/pino-ingest/send)' },
      ...OPTION_FLAGS,
    },
    notes: [
      KEY_NOTE,
      `Entries keep the time of their lines; a line without one gets that of the file's last change. Nothing is dropped: it reads as
fast as the service takes, and while the service is down it waits. A wrong key or URL ends it.`,
      `What was acknowledged is recorded after each batch, for the file itself, not its name: a file that was rotated goes on, one
that has grown is sent from where it ended, one that was replaced from its beginning. Other options for the entries, another
URL or another key count as not yet sent. Killed with -9, it sends at most one batch twice, under the same batch_id.`,
      `Level, sampling, beforeSend and what takes secrets out work as in the transport. Breadcrumbs, request logs and the summing up of
equal errors do not: they belong to an application that runs.`,
      `With --json stdout has one object for each file and one for the total; stderr has lines {"event":"progress",…} and
{"event":"message",…}, with --quiet the latter alone.`,
      'Exit codes: 0 all was sent, now or before, 1 something is left or was rejected, or it was interrupted, 2 wrong flags or configuration.',
    ],
    jsonFailuresTo: 'stdout',
    run: (given) => run(names, given),
  }
}

async function run(names: readonly string[], given: Arguments): Promise<number> {
  const { switches, texts } = given
  const concurrency = parseInteger('concurrency', texts.get('concurrency') ?? '1', 1, MAX_CONCURRENCY)
  const settings = resolveFromProcess(parseOptionFlags(given))
  if (!settings.enabled)
    throw new CommandError('CONFIG', 'nothing is sent while PINO_INGEST_ENABLED is false: unset it', EXIT_USAGE)
  const hook = settings.beforeSend === undefined ? undefined : await loadHook(settings.beforeSend)
  const asJson = switches.has('json')
  const isQuiet = switches.has('quiet') || settings.onProblem === 'silent'
  const clock = systemClock
  const mask = createSecretMask(settings.givenKeys.map((one) => one.reveal()))
  const key = settings.apiKey.reveal()
  const states = new StateFolder({
    dir: texts.get('state') ?? defaultStateDir(process.env),
    destination: destinationName(settings.url, key),
    previous: settings.previousApiKeys.map((one) => destinationName(settings.url, one.reveal())),
    options: optionsTag(settings),
    machine: readMachine(),
    clock,
    isRestart: switches.has('restart'),
  })
  const results: FileResult[] = []
  const startedAt = clock.now()
  const meter = new Meter()
  const isTerminal = process.stderr.isTTY && process.env['TERM'] !== 'dumb'
  const screen: Screen = new Screen({
    out: process.stderr,
    clock,
    isQuiet,
    mode: asJson ? 'json' : isTerminal ? 'bar' : 'lines',
    progress: () => progressOf(job, names, meter, clock.now(), mask),
  })
  const tell = (text: string): void => {
    if (settings.onProblem !== 'silent') screen.tell(mask(text))
  }
  const job: SendRun = new SendRun({
    settings,
    names,
    states,
    clock,
    hook,
    concurrency,
    mask,
    tell,
    stdin: process.stdin,
    onEnd: (result) => {
      results.push(result)
      const text = resultText(result, leftOutText(settings))
      screen.clear()
      if (asJson) process.stdout.write(formatJsonLine(maskDeep(resultData(result), mask)))
      else if (!isWell(result)) tell(text)
      else if (!isQuiet) process.stdout.write(`${printable(mask(text))}\n`)
    },
  })
  if (settings.keyWarning !== undefined) tell(settings.keyWarning)
  const undoSignals = onTerminationSignal((times) => {
    if (times === 1) tell('ends; what was sent is recorded')
    job.interrupt(times > 1)
  })
  try {
    await job.run()
  } finally {
    screen.close()
    undoSignals()
  }
  const total = totalOf(results, names.length, clock.now() - startedAt)
  if (asJson) process.stdout.write(formatJsonLine({ total }))
  else if (!isQuiet && names.length > 1) process.stdout.write(`${totalText(total)}\n`)
  // A stream that stays open would hold the process.
  if (names.includes('-')) process.stdin.destroy()
  return results.every(isWell) && !job.isInterrupted ? EXIT_DONE : EXIT_FAILED
}

function progressOf(
  { reading, trouble }: SendRun,
  names: readonly string[],
  meter: Meter,
  at: number,
  mask: (text: string) => string,
): Progress | undefined {
  if (reading === undefined) return undefined
  const {
    name,
    number,
    size,
    isGzip,
    from,
    readTo,
    run: { counts, bytes },
  } = reading
  // Of compressed text nobody knows how long it is.
  const done = isGzip || size === undefined ? readTo : from + bytes
  const entries = counts.accepted + counts.rejected
  const { secondsLeft, ...rates } = meter.add({ at, number, done, entries, bytes }, size)
  return {
    label: names.length === 1 ? name : `${number}/${names.length} ${name}`,
    done,
    total: size,
    entries,
    ...rates,
    secondsLeft: trouble === undefined ? secondsLeft : undefined,
    trouble: trouble === undefined ? undefined : mask(trouble),
  }
}
