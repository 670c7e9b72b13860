/** `pino-ingest spool replay`: sends what the dead left, and what was refused, with the present url and key. */
import { systemClock } from '../../shared/clock.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { findKinds } from './item-kind.js'
import type { ItemKind } from './item-kind.js'
import { selectAll, selectById } from './select.js'
import type { Selection } from './select.js'
import { DIR_FLAG, locateSpool } from './locate.js'
import { ReplayRun } from './replay-run.js'
import type { Replayed, Tally } from './replay-run.js'
import { parseInteger, formatItemCount, formatNumber } from '../shared/terminal-format.js'

const DEFAULT_TIMEOUT_S = 60
const MAX_TIMEOUT_S = 86_400
const PROGRESS_MS = 2_000

/** @param id of an instance or a destination, or `dead` */
export function createReplayCommand(id: string | undefined): Command {
  return {
    summary:
      'Sends what dead instances left on disk, also under another url or key, and dead letters, with the present url and key.',
    usage: [
      'pino-ingest spool replay ID [FLAGS]',
      'pino-ingest spool replay dead [FLAGS]',
      'pino-ingest spool replay --all [FLAGS]',
    ],
    flags: {
      all: { meaning: 'all instances that nobody holds, and all dead letters' },
      timeout: { value: 'SECONDS', meaning: `ends after this time (${DEFAULT_TIMEOUT_S})` },
      ...DIR_FLAG,
    },
    notes: [
      'ID is an instance, a destination, or a beginning of either that no other has; dead stands for all dead letters.',
      `What is accepted goes from disk, what is refused is a dead letter, what is not sent in time stays where it was.
What a living process holds is left to it.`,
      'Log entries go to /ingest, request logs to /ingest/requests.',
      'Instances keep their batch ids, dead letters get new ones. Killed with -9, it leaves dead letters that may be sent twice.',
      'Exit codes: 0 all was accepted, 1 something is left or was refused, 2 wrong flags or configuration.',
    ],
    jsonFailuresTo: 'stdout',
    run: (given) => run(id, given),
  }
}

async function run(id: string | undefined, given: Arguments): Promise<number> {
  const isAll = given.switches.has('all')
  if ((id === undefined) !== isAll)
    throw createUsageError(
      isAll ? `give either ${id} or --all` : 'say what to replay: an ID of pino-ingest spool ls, dead, or --all',
    )
  const timeoutMs =
    1_000 * parseInteger(given.texts.get('timeout') ?? String(DEFAULT_TIMEOUT_S), 'timeout', MAX_TIMEOUT_S)
  const settings = sendingSettings()
  const place = locateSpool(given)
  const picked: Selection = id === undefined ? selectAll(place) : selectById(place, id)
  const asJson = given.switches.has('json')
  const say = (text: string): void => {
    if (!asJson) process.stderr.write(`pino-ingest spool: ${printable(place.mask(text))}\n`)
  }
  const job = new ReplayRun({
    settings,
    picked,
    kinds: await findKinds(place, [...picked.instances, ...picked.letters]),
    timeoutMs,
    clock: systemClock,
    root: place.root,
    machine: place.machine,
    mask: place.mask,
  })
  const undoSignals = onTerminationSignal((times) => {
    if (times > 1) return
    say('ends; what is not sent stays on disk')
    job.stop()
  })
  const progress = setInterval(() => {
    say(
      `${formatNumber(job.accepted)} accepted so far${job.trouble === undefined ? '' : `; the service does not take more: ${job.trouble}`}`,
    )
  }, PROGRESS_MS)
  const result = await job.run()
  clearInterval(progress)
  undoSignals()
  process.stdout.write(asJson ? formatJsonLine(dataOf(result, place.mask)) : textOf(result, place.mask))
  // Asked for by its ID, it is a failure that another holds it; --all means what is free.
  const isMissed = result.skipped.some(({ isHeld }) => !isHeld || !isAll)
  const { rejected, kept } = sumOf(result)
  return kept + rejected + result.problems.length === 0 && !isMissed ? EXIT_DONE : EXIT_FAILED
}

function sumOf({ tallies: { entries, requests } }: Replayed): Tally {
  return {
    sent: entries.sent + requests.sent,
    accepted: entries.accepted + requests.accepted,
    rejected: entries.rejected + requests.rejected,
    kept: entries.kept + requests.kept,
  }
}

/** @throws IngestError `CONFIG`, CommandError */
function sendingSettings(): Settings {
  const settings = resolveFromProcess({})
  if (settings.isLocalDefault) {
    throw new CommandError(
      'CONFIG',
      'set PINO_INGEST_URL and PINO_INGEST_API_KEY (or PINO_INGEST_API_KEY_FILE): where to send to is not guessed',
      EXIT_USAGE,
    )
  }
  if (!settings.enabled)
    throw new CommandError('CONFIG', 'nothing is sent while PINO_INGEST_ENABLED is false: unset it', EXIT_USAGE)
  return settings
}

function dataOf(result: Replayed, mask: (text: string) => string): object {
  const { tallies, skipped, problems, trouble } = result
  return {
    ...sumOf(result),
    requestLogs: tallies.requests,
    skipped: skipped.map(({ why, ...rest }) => ({ ...rest, why: mask(why) })),
    problems: problems.map(mask),
    trouble: trouble === undefined ? null : mask(trouble),
  }
}

function textOf(result: Replayed, mask: (text: string) => string): string {
  const { tallies, skipped, problems, trouble } = result
  const { sent, rejected, kept } = sumOf(result)
  const lines = [...skipped.map(({ name, why }) => `${name} was left alone: ${why}`), ...problems]
  if (sent + kept === 0) lines.push('Nothing was there to send.')
  else lines.push(...tallyText(tallies.entries, 'entries'), ...tallyText(tallies.requests, 'requests'))
  if (rejected > 0) lines.push('What was rejected is kept with the reason: pino-ingest spool show dead')
  if (kept > 0 && trouble !== undefined) lines.push(`Why not all was sent: ${trouble}`)
  return lines.map((line) => `${printable(mask(line))}\n`).join('')
}

function tallyText({ sent, accepted, rejected, kept }: Tally, kind: ItemKind): string[] {
  if (sent + kept === 0) return []
  return [
    `Sent ${formatItemCount(sent, kind)}: ${formatNumber(accepted)} accepted, ${formatNumber(rejected)} rejected. Kept on disk: ${formatItemCount(kept, kind)}.`,
  ]
}
