/** `pino-ingest spool replay`: sends stored entries and dead letters with the current URL and key. */
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { systemClock } from '../../shared/clock.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { parseInteger } from '../shared/quantities.js'
import { requireEnabled } from '../shared/require-enabled.js'
import { formatNumber } from '../shared/terminal-format.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { describeHolder } from './claim-instance.js'
import { DestinationBatches } from './destination-batches.js'
import type { ItemKind } from './item-kind.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import type { SpoolLocation } from './locate-spool.js'
import { ReplayDelivery } from './replay-delivery.js'
import type { ReplayJob } from './replay-delivery.js'
import { findOutermost, selectAll, selectById } from './select-entries.js'
import type { Selection } from './select-entries.js'
import { formatItemCount } from './spool-format.js'

const DEFAULT_TIMEOUT_S = 60
const MAX_TIMEOUT_S = 86_400
const PROGRESS_MS = 2_000
/** Minimum time between two lines about the same failure. */
const FAILURE_REPEAT_MS = 60_000

export const replayCommand: Command = {
  summary:
    'Sends entries left on disk by exited processes, and dead letters, with the current URL and key, even if they were stored for others.',
  examples: [
    ['npx pino-ingest spool replay --all', 'sends what exited processes left'],
    ['npx pino-ingest spool replay dead', 'sends rejected entries again, after their cause was fixed'],
  ],
  usage: [
    'pino-ingest spool replay ID [FLAGS]',
    'pino-ingest spool replay dead [FLAGS]',
    'pino-ingest spool replay --all [FLAGS]',
  ],
  flags: {
    all: { meaning: 'all instances that no process holds, and all dead letters' },
    timeout: { value: 'SECONDS', meaning: `ends after this time (${DEFAULT_TIMEOUT_S})` },
    ...DIR_FLAG,
  },
  notes: [
    'ID is an instance, a destination, or a unique prefix of either; dead selects all dead letters.',
    `Accepted entries are deleted from disk, rejected entries become dead letters, and entries that are not sent in time stay on disk.
Instances that a running process holds are skipped.`,
    'Log entries are sent to /ingest, request logs to /ingest/requests.',
    'Entries of instances keep their batch ids, dead letters get new ones. After kill -9, dead letters may be sent twice.',
    'Exit codes: 0 all were accepted, 1 some were rejected or not sent, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  jsonFailuresTo: 'stdout',
  run,
}

const KINDS: readonly ItemKind[] = ['entries', 'requests']

interface Skipped {
  readonly name: string
  readonly reason: string
  /** Whether a running process owns it and will send it. */
  readonly isInUse: boolean
}

interface Tally {
  readonly sent: number
  readonly accepted: number
  readonly rejected: number
  /** Number of items without a reply, which are still on disk. */
  readonly kept: number
  /** Number of the rejected items that are not stored, since the service did not name them. */
  readonly unstored: number
}

interface ReplayResult {
  readonly tallies: Readonly<Record<ItemKind, Tally>>
  readonly skipped: readonly Skipped[]
  readonly problems: readonly string[]
  readonly lastFailure: string | undefined
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const [id] = given.positionals
  const isAll = switches.has('all')
  if (id !== undefined && isAll) throw createUsageError(`give either ${id} or --all`)
  if (id === undefined && !isAll) throw createUsageError('replay needs an ID from pino-ingest spool ls, dead, or --all')
  const timeoutMs = 1_000 * parseInteger('timeout', texts.get('timeout') ?? String(DEFAULT_TIMEOUT_S), 1, MAX_TIMEOUT_S)
  const settings = resolveSendingSettings()
  const location = await locateSpool(given)
  const asJson = switches.has('json')
  const print = (text: string): void => {
    if (!asJson) process.stderr.write(`pino-ingest spool: ${toPrintable(location.mask(text))}\n`)
  }
  const selection = id === undefined ? selectAll(location) : selectById(location, id)
  const result = await replay(location, settings, selection, timeoutMs, print)
  process.stdout.write(asJson ? formatJsonLine(toData(result, location.mask)) : formatResult(result, location.mask))
  // An instance in use is a failure only if it was selected by an ID.
  const isMissed = result.skipped.some(({ isInUse }) => !isInUse || !isAll)
  const { rejected, kept } = addTallies(result)
  return kept + rejected + result.problems.length === 0 && !isMissed ? EXIT_DONE : EXIT_FAILED
}

/** @throws IngestError `CONFIG`, CommandError */
function resolveSendingSettings(): Settings {
  const settings = resolveFromProcess({})
  if (settings.isLocalDefault) {
    throw new CommandError(
      'CONFIG',
      'set PINO_INGEST_URL and PINO_INGEST_API_KEY (or PINO_INGEST_API_KEY_FILE): replay has no default destination',
      EXIT_USAGE,
    )
  }
  requireEnabled(settings)
  return settings
}

async function replay(
  { root, machine, kinds, mask }: SpoolLocation,
  settings: Settings,
  selection: Selection,
  timeoutMs: number,
  print: (text: string) => void,
): Promise<ReplayResult> {
  // A set, since an unreadable dead-letter file fails twice: when it is sent and in `finish`.
  const problems = new Set<string>()
  const addProblem: ProblemListener = (error) => {
    problems.add(error instanceof Error ? error.message : String(error))
    return undefined
  }
  const { instances, skipped } = splitFree(findOutermost(selection.instances))
  const deadlineAt = systemClock.now() + timeoutMs
  const deliveries = KINDS.map((kind) => new ReplayDelivery({ kind, settings, deadlineAt, mask }))
  // A Retry-After applies to all requests with the key.
  for (const delivery of deliveries)
    delivery.onRetryAfter((delayMs) => deliveries.forEach((one) => one !== delivery && one.applyRetryAfter(delayMs)))
  const stop = (): void => deliveries.forEach((one) => one.stop())
  const sending = { ...settings, root, machine, clock: systemClock, onProblem: addProblem, onLost: stop }
  const onSkipped = (name: string, reason: string): number => skipped.push({ name, reason, isInUse: false })
  const sources = openSources({ ...selection, instances }, addProblem, (destination) => ({
    kind: kinds.get(destination) ?? 'entries',
    batches: new DestinationBatches({ ...sending, destination, onSkipped }),
  }))

  const undoSignals = onTerminationSignal((times) => {
    if (times > 1) return
    print('stops; entries that were not sent stay on disk')
    stop()
  })
  const endProgress = reportProgress(deliveries, print)
  const sendAll = (delivery: ReplayDelivery): Promise<void> => {
    const parts = sources.filter(({ kind }) => kind === delivery.kind).flatMap((one) => one.batches.jobs())
    return delivery.sendAll(joinJobs(parts, addProblem))
  }
  await Promise.all(deliveries.map(sendAll))
  endProgress()
  undoSignals()

  const kept = { entries: 0, requests: 0 }
  for (const one of sources) kept[one.kind] += (await one.batches.finish().catch(addProblem)) ?? 0
  const tallies = Object.fromEntries(
    deliveries.map(({ kind, accepted, rejected, unstored }) => {
      return [kind, { sent: accepted + rejected, accepted, rejected, kept: kept[kind], unstored }]
    }),
  ) as Record<ItemKind, Tally>
  return { tallies, skipped, problems: [...problems], lastFailure: findLastFailure(deliveries) }
}

type ProblemListener = (error: unknown) => undefined
type Jobs = AsyncGenerator<ReplayJob, undefined>

interface ReplaySource {
  readonly kind: ItemKind
  readonly batches: DestinationBatches
}

/** Claims the selected instances and files. Each that fails is a problem, and the others are replayed. */
function openSources(
  { instances, deadLetters }: Selection,
  addProblem: ProblemListener,
  create: (destination: string) => ReplaySource,
): ReplaySource[] {
  const attempt = <T>(act: () => T): T | undefined => {
    try {
      return act()
    } catch (error) {
      return addProblem(error)
    }
  }
  const destinations = new Set([...instances, ...deadLetters].map(({ destination }) => destination))
  return [...destinations].flatMap((destination) => {
    const made = attempt(() => create(destination))
    if (made === undefined) return []
    for (const one of instances) if (one.destination === destination) attempt(() => made.batches.addInstance(one))
    for (const one of deadLetters) if (one.destination === destination) attempt(() => made.batches.addDeadLetters(one))
    return [made]
  })
}

/** Does not reject: an error ends one of the parts. */
async function* joinJobs(parts: readonly AsyncGenerator<ReplayJob>[], addProblem: ProblemListener): Jobs {
  for (const jobs of parts) {
    try {
      yield* jobs
    } catch (error) {
      addProblem(error)
    }
  }
}

function findLastFailure(deliveries: readonly ReplayDelivery[]): string | undefined {
  return deliveries.map((one) => one.lastFailure).find((reason) => reason !== undefined)
}

/** Prints how many items were accepted, and a failure. @returns ends it */
function reportProgress(deliveries: readonly ReplayDelivery[], print: (text: string) => void): () => void {
  let last = { line: '', at: -Infinity }
  const timer = setInterval(() => {
    const accepted = deliveries.reduce((sum, one) => sum + one.accepted, 0)
    const failure = findLastFailure(deliveries)
    const outage = failure === undefined ? '' : `; the service does not accept entries: ${failure}`
    const line = `${formatNumber(accepted)} accepted so far${outage}`
    const now = performance.now()
    if (line === last.line && now - last.at < FAILURE_REPEAT_MS) return
    last = { line, at: now }
    print(line)
  }, PROGRESS_MS)
  return () => clearInterval(timer)
}

function splitFree(instances: Selection['instances']) {
  return {
    instances: instances.filter(({ isFree, isForeign }) => isFree && !isForeign),
    skipped: instances
      .filter(({ isFree, isForeign }) => !isFree || isForeign)
      .map((one) => ({
        name: one.name,
        isInUse: !one.isFree,
        reason: one.isForeign ? 'it was written by another version of pino-ingest' : describeHolder(one),
      })),
  }
}

function addTallies({ tallies: { entries, requests } }: ReplayResult): Tally {
  return {
    sent: entries.sent + requests.sent,
    accepted: entries.accepted + requests.accepted,
    rejected: entries.rejected + requests.rejected,
    kept: entries.kept + requests.kept,
    unstored: entries.unstored + requests.unstored,
  }
}

function toData(result: ReplayResult, mask: (text: string) => string): object {
  const { tallies, skipped, problems, lastFailure } = result
  return {
    ...addTallies(result),
    requestLogs: tallies.requests,
    skipped: skipped.map((one) => ({ ...one, reason: mask(one.reason) })),
    problems: problems.map(mask),
    lastFailure: lastFailure === undefined ? null : mask(lastFailure),
  }
}

function formatResult(result: ReplayResult, mask: (text: string) => string): string {
  const { tallies, skipped, problems, lastFailure } = result
  const { sent, rejected, kept, unstored } = addTallies(result)
  const lines = [...skipped.map(({ name, reason }) => `Skipped ${name}: ${reason}`), ...problems]
  if (sent + kept === 0) lines.push('There was nothing to send.')
  for (const kind of KINDS) {
    const tally = tallies[kind]
    if (tally.sent + tally.kept > 0) {
      lines.push(
        `Sent ${formatItemCount(tally.sent, kind)}: ${formatNumber(tally.accepted)} accepted, ${formatNumber(tally.rejected)} rejected. Kept on disk: ${formatItemCount(tally.kept, kind)}.`,
      )
    }
  }
  if (unstored > 0)
    lines.push(`${formatNumber(unstored)} of the rejected are not stored: the service did not say which it rejected.`)
  if (rejected > unstored) lines.push('Rejected entries are stored with the reason: pino-ingest spool show dead')
  if (kept > 0 && lastFailure !== undefined) lines.push(`Last failure: ${lastFailure}`)
  return lines.map((line) => `${toPrintable(mask(line))}\n`).join('')
}
