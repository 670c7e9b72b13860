/** `pino-ingest send FILE...`: sends existing log files, and continues where it was interrupted. */
import { EventEmitter } from 'node:events'
import { maskDeep, createSecretMask } from '../../diagnostics/secret-mask.js'
import type { IngestEvents } from '../../diagnostics/reporter.js'
import { loadHook } from '../../filter/load-hook.js'
import { readProcessSources, resolveOptions } from '../../options/resolve-options.js'
import type { Settings } from '../../options/settings.js'
import { Pipeline } from '../../pipeline/pipeline.js'
import { systemClock } from '../../shared/clock.js'
import { DeadLetterFile } from '../../spool/dead-letter-file.js'
import { nameDestination } from '../../spool/spool-root.js'
import { EXIT_DONE, EXIT_FAILED, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags, requireEnabled } from '../shared/option-flags.js'
import { findStatePath } from '../shared/state-path.js'
import { formatEntryCount, formatJsonLine, toPrintable } from '../shared/terminal.js'
import { onTerminationSignal } from '../shared/child-process.js'
import { ProgressPrinter, selectMode } from '../shared/progress.js'
import { parseInteger } from '../shared/quantities.js'
import { CheckpointFolder } from './checkpoint-folder.js'
import { FilePositionLog } from './file-position-log.js'
import { FileSender } from './file-sender.js'
import { formatResult, formatTotal, isSuccess, sumResults } from './send-result.js'
import type { FileResult } from './send-result.js'

const MAX_CONCURRENCY = 256
/** Time for replies to requests in flight when a signal ends the command. */
const SHUTDOWN_MS = 1_000
/** Minimum time between two messages about the same kind of failure. */
const REPEAT_MS = 60_000

export const sendCommand: Command = {
  examples: [
    ['npx pino-ingest send app.log.1.gz app.log --service checkout', 'sends two files, the older one first'],
    ['npx pino-ingest send - --quiet < app.log', 'sends stdin'],
  ],
  usage: ['pino-ingest send FILE... [FLAGS]', 'zstd -dc FILE | pino-ingest send - [FLAGS]'],
  flags: {
    quiet: { short: 'q', meaning: 'shows problems only' },
    restart: { meaning: 'ignores checkpoints and sends the files from the start' },
    concurrency: {
      value: 'N',
      meaning: 'maximum number of concurrent requests (1); after kill -9 up to N batches may be sent twice',
    },
    state: { value: 'DIR', meaning: 'folder of the checkpoints (~/.local/state/pino-ingest/send)' },
    ...OPTION_FLAGS,
  },
  notes: [
    KEY_NOTE,
    `Entries keep the time of their lines; a line without a time gets the file's modification time. Nothing is dropped: the file is
read as fast as the log service accepts entries, and while the log service is down the command waits. A wrong key or URL ends it.`,
    `A checkpoint is written after each batch. It belongs to the file, not to its name: a file that was rotated or has grown is
continued, and a file that was replaced is sent from the start. After a change of options, --restart sends a file again.`,
    'Lines of an export of the local service, and of tail --json, are sent as the entries that they contain.',
    `With --json, stdout has one object per file and one for the total; stderr has lines {"event":"progress",…} and
{"event":"message",…}, with --quiet only the latter.`,
    'Exit codes: 0 everything was sent, now or before, 1 entries were rejected or not sent, 2 invalid flags or configuration.',
  ],
  maxPositionals: Infinity,
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts, positionals: names } = given
  if (names.length === 0) throw createUsageError('send needs the name of a FILE, or - for stdin')
  const concurrency = parseInteger('concurrency', texts.get('concurrency') ?? '1', 1, MAX_CONCURRENCY)
  // Without the application's package: old logs may be those of another version, or of another application.
  const resolved = resolveOptions(parseOptionFlags(given), { ...readProcessSources(), requiresUrl: true })
  requireEnabled(resolved)
  const settings = toSendSettings(resolved, concurrency)
  const hook = settings.beforeSend === undefined ? undefined : await loadHook(settings.beforeSend, settings.secrets)
  const clock = systemClock
  const isJson = switches.has('json')
  const isSilent = resolved.logTo === 'silent'
  const isQuiet = switches.has('quiet') || isSilent
  const secrets = settings.secrets.map((one) => one.reveal())
  settings.apiKey.changed.on((key) => void secrets.push(key))
  const mask = createSecretMask(secrets)

  const keys = [settings.apiKey, ...settings.previousApiKeys]
  const checkpoints = new CheckpointFolder({
    dir: texts.get('state') ?? findStatePath(process.env, 'send'),
    destinations: keys.map((one) => nameDestination(settings.url, one.reveal())),
    isRestart: switches.has('restart'),
  })
  const deadLetters = new DeadLetterFile(checkpoints.path, `send-${Date.now().toString(36)}-${process.pid}`, {
    clock: systemClock,
    isPowerSafe: false,
  })
  const log = new FilePositionLog(Math.max(concurrency, 2), (letters) => {
    try {
      deadLetters.write(letters)
    } catch (error) {
      sender.fail(`rejected entries cannot be stored in ${checkpoints.path}/dead: ${(error as Error).message}`)
      throw error
    }
  })
  const printer = new ProgressPrinter({ out: process.stderr, clock, mode: selectMode(isJson), command: 'send' })
  const onMessage = (text: string): void => {
    if (!isSilent) printer.message(mask(text))
  }
  const results: FileResult[] = []
  const onResult = (result: FileResult): void => {
    results.push(result)
    const text = formatResult(result, settings, `${checkpoints.path}/dead`)
    printer.clear()
    if (isJson) process.stdout.write(formatJsonLine(maskDeep(result, mask)))
    else if (!isSuccess(result)) onMessage(text)
    else if (!isQuiet) process.stdout.write(`${toPrintable(mask(text))}\n`)
  }
  for (const warning of [settings.warning, settings.variableWarning]) if (warning !== undefined) onMessage(warning)
  const events = new EventEmitter()
  const pipeline = new Pipeline({
    settings,
    hook,
    clock,
    emit: (name, payload) => events.emit(name, payload),
    source: log,
    joinsLines: true,
  })
  const sender = new FileSender({
    pipeline,
    log,
    batchSize: settings.batch.size,
    names,
    stdin: process.stdin,
    checkpoints,
    onMessage,
    onResult,
  })
  const reportedAt = new Map<string, number>()
  let failure: string | undefined
  events.on('ingest:delivered', () => (failure = undefined))
  events.on('ingest:problem', ({ code, message }: IngestEvents['ingest:problem']) => {
    // Accepted entries show that key and URL are valid, but not that the last entries are valid.
    const isFatal = sender.acceptedEntries === 0 || (code === 'REJECTED' && sender.hasReadAll)
    if (FATAL.has(code) && isFatal) return sender.fail(message.replace(/; entries wait,.*$/, ''))
    if (code !== 'CONFIG' && code !== 'INVALID') failure = message
    if (clock.now() - (reportedAt.get(code) ?? -Infinity) < REPEAT_MS) return
    reportedAt.set(code, clock.now())
    onMessage(message)
  })

  const startedAt = clock.now()
  if (!isQuiet) printer.start(() => sender.measure(failure))
  const undoSignals = onTerminationSignal((times) => {
    if (times === 1) onMessage('stops; the checkpoint records the entries that were sent')
    sender.interrupt()
  })
  await sender.run()
  printer.close()
  undoSignals()
  // Entries that the log service rejected without naming them.
  const unnamed = pipeline.account.rejected - results.reduce((sum, { rejected }) => sum + rejected, 0)
  if (unnamed > 0)
    onMessage(
      `the log service rejected ${formatEntryCount(unnamed)} without saying which; they are counted as sent, and not stored`,
    )
  const total = sumResults(results, names.length, clock.now() - startedAt)
  if (isJson) process.stdout.write(formatJsonLine({ total }))
  else if (!isQuiet && names.length > 1) process.stdout.write(`${formatTotal(total)}\n`)
  // An open stdin would keep the process alive.
  if (names.includes('-')) process.stdin.destroy()
  return unnamed === 0 && results.length === names.length && results.every(isSuccess) ? EXIT_DONE : EXIT_FAILED
}

/** Failures that only the user can correct. */
const FATAL: ReadonlySet<string> = new Set(['AUTH', 'MISDIRECTED', 'REJECTED'])

/** The file replaces spool and buffer: reading pauses before a buffer would fill. Options that need a running application are disabled. */
function toSendSettings(settings: Settings, maxConcurrency: number): Settings {
  return {
    ...settings,
    maxConcurrency,
    maxBufferBytes: Number.MAX_SAFE_INTEGER,
    shutdownTimeoutMs: SHUTDOWN_MS,
    spool: false,
    breadcrumbs: false,
    requestLogs: { ...settings.requestLogs, enabled: false, only: false },
    dedupeWindowMs: 0,
    registerRelease: false,
    logTo: 'silent',
  }
}
