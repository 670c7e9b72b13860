/** `pino-ingest spool replay`: sends stored entries and dead letters with the current URL and key. */
import { maskDeep } from '../../diagnostics/secret-mask.js'
import { createDestination } from '../../delivery/destination.js'
import { readProcessSources, resolveOptions } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { backgroundClock, systemClock } from '../../shared/clock.js'
import { KeyPause } from '../../shared/key-pause.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, formatNumber, toPrintable } from '../shared/terminal.js'
import { ProgressPrinter, selectMode } from '../shared/progress.js'
import { parseInteger } from '../shared/quantities.js'
import { requireEnabled } from '../shared/option-flags.js'
import { onTerminationSignal } from '../shared/child-process.js'
import type { ItemKind } from './item-kind.js'
import { readId } from '../shared/arguments.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import type { SpoolLocation } from './locate-spool.js'
import { DestinationReplay, Problems } from './destination-replay.js'
import { findOutermost, listHeld, select } from './select-entries.js'
import type { Held, Selection } from './select-entries.js'
import { formatItemCount } from './item-kind.js'

const DEFAULT_TIMEOUT_S = 60
const MAX_TIMEOUT_S = 86_400

export const replayCommand: Command = {
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
    'Entries of instances keep their batch ids, dead letters get new ones. After kill -9, dead letters may be sent twice.',
    'Exit codes: 0 all were accepted, 1 some were rejected or not sent, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  run,
}

const KINDS: readonly ItemKind[] = ['entries', 'requests']

interface ReplayResult {
  readonly replays: readonly DestinationReplay[]
  readonly skipped: readonly Held[]
  readonly problems: readonly string[]
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const id = readId(given, 'replay needs an ID from pino-ingest spool ls, dead, or --all')
  const timeoutMs = 1_000 * parseInteger('timeout', texts.get('timeout') ?? String(DEFAULT_TIMEOUT_S), 1, MAX_TIMEOUT_S)
  const settings = resolveOptions({}, { ...readProcessSources(), requiresUrl: true })
  requireEnabled(settings)
  const location = locateSpool(given)
  const asJson = switches.has('json')
  const result = await replay(location, settings, select(location, id), timeoutMs, asJson)
  const text = asJson ? formatJsonLine(maskDeep(toData(result), location.mask)) : formatResult(result, location.mask)
  process.stdout.write(text)
  // An instance in use is a failure only if it was selected by an ID.
  const isMissed = result.skipped.some(({ isInUse }) => !isInUse || id !== undefined)
  const { rejected, kept } = toTally(result.replays)
  return kept + rejected + result.problems.length === 0 && !isMissed ? EXIT_DONE : EXIT_FAILED
}

async function replay(
  location: SpoolLocation,
  settings: Settings,
  selection: Selection,
  timeoutMs: number,
  asJson: boolean,
): Promise<ReplayResult> {
  // The timer of the progress keeps the process alive.
  const clock = backgroundClock
  const problems = new Problems()
  const skipped = listHeld(selection)
  const service = createDestination({ settings, clock, mask: location.mask })
  const deadlineAt = clock.now() + timeoutMs
  const shared = { location, settings, service, pause: new KeyPause(clock), clock, deadlineAt, problems }
  const create = (name: string): DestinationReplay => new DestinationReplay({ ...shared, name })
  const replays = openReplays(selection, problems, skipped, create)
  const printer = new ProgressPrinter({
    out: process.stderr,
    clock: systemClock,
    mode: selectMode(asJson),
    command: 'spool replay',
  })
  const undoSignals = onTerminationSignal((times) => {
    if (times > 1) return
    printer.message('stops; entries that were not sent stay on disk')
    for (const one of replays) one.stop()
  })
  const startedAt = clock.now()
  printer.start(() => {
    const { accepted: entries } = toTally(replays)
    const failure = replays.map((one) => one.failure).find((reason) => reason !== undefined)
    const entriesPerSecond = (1_000 * entries) / (clock.now() - startedAt)
    return { label: 'stored', entries, entriesPerSecond, failure: failure && location.mask(failure) }
  })
  await Promise.all(replays.map((one) => one.run()))
  printer.close()
  undoSignals()
  await service.close()
  return { replays, skipped, problems: problems.messages }
}

/** Claims the selected instances and files. Each that fails is reported, and the others are replayed. */
function openReplays(
  { instances, deadLetters }: Selection,
  problems: Problems,
  skipped: Held[],
  create: (destination: string) => DestinationReplay,
): DestinationReplay[] {
  const free = findOutermost(instances).filter(({ isFree }) => isFree)
  const destinations = new Set([...free, ...deadLetters].map(({ destination }) => destination))
  return [...destinations].map((destination) => {
    const opened = create(destination)
    for (const one of free.filter((each) => each.destination === destination)) {
      try {
        opened.addInstance(one)
      } catch (error) {
        skipped.push({ name: one.name, reason: (error as Error).message, isInUse: false })
      }
    }
    for (const one of deadLetters.filter((each) => each.destination === destination))
      problems.attempt(() => opened.addDeadLetters(one))
    return opened
  })
}

function toTally(replays: readonly DestinationReplay[]) {
  const sum = (count: (one: DestinationReplay) => number): number => replays.reduce((all, one) => all + count(one), 0)
  const accepted = sum(({ account }) => account.accepted)
  const rejected = sum(({ account }) => account.rejected)
  return {
    sent: accepted + rejected,
    accepted,
    rejected,
    /** Number of items without a reply, which are still on disk. */
    kept: sum(({ kept }) => kept),
    /** Number of the rejected items that are not stored, since the log service did not name them. */
    unstored: sum(({ unstored }) => unstored),
  }
}

function findLastFailure(replays: readonly DestinationReplay[]): string | undefined {
  return replays.find(({ kept }) => kept > 0)?.lastFailure
}

function toData({ replays, skipped, problems }: ReplayResult): object {
  const requestLogs = toTally(replays.filter(({ kind }) => kind === 'requests'))
  return { ...toTally(replays), requestLogs, skipped, problems, lastFailure: findLastFailure(replays) ?? null }
}

function formatResult({ replays, skipped, problems }: ReplayResult, mask: (text: string) => string): string {
  const total = toTally(replays)
  const lastFailure = findLastFailure(replays)
  const lines = [...skipped.map(({ name, reason }) => `Skipped ${name}: ${reason}`), ...problems]
  if (total.sent + total.kept + lines.length === 0) lines.push('There was nothing to send.')
  for (const kind of KINDS) {
    const { sent, accepted, rejected, kept } = toTally(replays.filter((one) => one.kind === kind))
    if (sent + kept > 0) {
      lines.push(
        `Sent ${formatItemCount(sent, kind)}: ${formatNumber(accepted)} accepted, ${formatNumber(rejected)} rejected. Kept on disk: ${formatItemCount(kept, kind)}.`,
      )
    }
  }
  if (total.unstored > 0)
    lines.push(
      `${formatNumber(total.unstored)} of the rejected are not stored: the log service did not say which it rejected.`,
    )
  if (total.rejected > total.unstored)
    lines.push('Rejected entries are stored with the reason: pino-ingest spool show dead')
  if (lastFailure !== undefined) lines.push(`Last failure: ${lastFailure}`)
  return lines.map((line) => `${toPrintable(mask(line))}\n`).join('')
}
