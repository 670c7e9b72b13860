/** Formats the results of the files. Pure. */
import type { Settings } from '../../options/settings.js'
import { formatCount, formatEntryCount, formatNumber, formatSize } from '../shared/terminal.js'
import type { Counts } from './checkpoint.js'

/**
 * - `sent`: all entries are acknowledged
 * - `already`: an earlier run sent all entries
 * - `same`: the same file as an earlier argument
 * - `interrupted`: by the user
 * - `failed`: see `reason`
 */
export type ResultKind = 'sent' | 'already' | 'same' | 'interrupted' | 'failed'

export interface FileResult extends Counts {
  /** As the user gave it. */
  readonly file: string
  readonly result: ResultKind
  /** Counts of earlier runs. */
  readonly earlier: Counts
  /** Bytes of text that this run has acknowledged. */
  readonly bytes: number
  /** Time at which all entries were acknowledged, ISO 8601. */
  readonly doneAt: string | null
  readonly reason: string | null
}

/** Totals over all files. */
export interface Total extends Counts {
  readonly files: number
  /** Number of files that are completely sent. */
  readonly complete: number
  readonly seconds: number
}

export function sumResults(results: readonly FileResult[], files: number, ms: number): Total {
  const sum = (field: keyof Counts): number => results.reduce((total, result) => total + result[field], 0)
  const complete = results.filter(isComplete).length
  return {
    files,
    complete,
    accepted: sum('accepted'),
    rejected: sum('rejected'),
    filtered: sum('filtered'),
    seconds: Math.round(ms) / 1_000,
  }
}

/** All entries are acknowledged, and none was rejected in this run. */
export function isSuccess(result: FileResult): boolean {
  return isComplete(result) && result.rejected === 0
}

function isComplete({ result }: FileResult): boolean {
  return result === 'sent' || result === 'already' || result === 'same'
}

/** @param deadLetters folder of the rejected entries */
export function formatResult(
  fileResult: FileResult,
  { sendLevel, sample, beforeSend }: Settings,
  deadLetters: string,
): string {
  const { file, result, accepted, rejected, filtered, earlier, bytes, doneAt, reason } = fileResult
  const label = file === '-' ? 'stdin' : file
  if (result === 'same') return `${label}: ${reason}`
  const parts =
    result === 'already'
      ? [`already sent (${formatEntryCount(earlier.accepted)}, ${doneAt}); --restart sends it again`]
      : [
          `sent ${formatEntryCount(accepted)} (${formatSize(bytes)})${earlier.accepted === 0 ? '' : `, after ${formatNumber(earlier.accepted)} of an earlier run`}`,
        ]
  const isPlain = sample === undefined && beforeSend === undefined
  const filter = isPlain
    ? `below ${sendLevel} (${file === '-' ? '' : '--restart '}--send-level trace sends all)`
    : `as configured (sendLevel, sample, beforeSend)`
  if (filtered > 0) parts.push(`filtered ${formatNumber(filtered)} ${filter}`)
  const refused = result === 'already' ? earlier.rejected : rejected
  if (refused > 0)
    parts.push(`the log service rejected ${formatEntryCount(refused)}, stored with the reasons in ${deadLetters}`)
  const advice =
    file === '-' ? 'the rest is lost, since stdin cannot be read again' : 'run the same command to continue'
  if (result === 'interrupted') parts.push(`interrupted; ${advice}`)
  if (result === 'failed') parts.push(`failed: ${reason ?? 'not all entries were sent'}`)
  return `${label}: ${parts.join('; ')}`
}

export function formatTotal({ files, complete, accepted, rejected, seconds }: Total): string {
  const rate = seconds > 0 ? `, ${formatNumber(Math.round((accepted + rejected) / seconds))} entries/s` : ''
  return `${formatNumber(complete)} of ${formatCount(files, 'file', 'files')} complete: ${formatEntryCount(accepted)} sent in ${seconds.toFixed(1)} s${rate}`
}
