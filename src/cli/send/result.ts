/** What became of the files, as text and as data. Pure. */
import type { Settings } from '../../options/resolve-options.js'
import { formatCount, formatEntryCount, formatNumber, formatSize } from '../shared/terminal-format.js'
import type { FileResult } from './file-run.js'

export interface Total {
  /** Files that were named. */
  readonly files: number
  /** Files of which nothing is left to be sent. */
  readonly complete: number
  readonly accepted: number
  readonly rejected: number
  readonly filtered: number
  readonly seconds: number
}

export function totalOf(results: readonly FileResult[], files: number, ms: number): Total {
  const sum = (count: (result: FileResult) => number): number =>
    results.reduce((before, result) => before + count(result), 0)
  return {
    files,
    complete: results.filter(isComplete).length,
    accepted: sum(({ accepted }) => accepted),
    rejected: sum(({ rejected }) => rejected),
    filtered: sum(({ filtered }) => filtered),
    seconds: Math.round(ms) / 1_000,
  }
}

export function isComplete({ kind }: FileResult): boolean {
  return kind === 'sent' || kind === 'already' || kind === 'same'
}

/** Nothing is left, and nothing was refused in this run. */
export function isWell(result: FileResult): boolean {
  return isComplete(result) && result.rejected === 0
}

/** Which records are left out. */
export function leftOutText({ level, sample, beforeSend }: Pick<Settings, 'level' | 'sample' | 'beforeSend'>): string {
  if (sample === undefined && beforeSend === undefined) return `below ${level} (--level trace sends all)`
  return `as configured (level ${level}${sample === undefined ? '' : ', sample'}${beforeSend === undefined ? '' : ', beforeSend'})`
}

/** @param leftOut as `leftOutText` */
export function resultText(result: FileResult, leftOut: string): string {
  const {
    name,
    kind,
    accepted,
    rejected,
    filtered,
    earlier,
    bytes,
    doneAt = '',
    reason = 'unknown reason',
    rejectedPath,
  } = result
  if (kind === 'same') return `${nameText(name)}: ${reason}`
  if (kind === 'already') {
    const refused = earlier.rejected === 0 ? '' : `; ${rejectedText(earlier.rejected, rejectedPath)}`
    return `${nameText(name)}: already sent (${formatEntryCount(earlier.accepted)}, ${doneAt}); --restart sends it again${refused}`
  }
  const before = earlier.accepted === 0 ? '' : `, after ${formatNumber(earlier.accepted)} of an earlier run`
  const parts = [`sent ${formatEntryCount(accepted)} (${formatSize(bytes)})${before}`]
  if (filtered > 0) parts.push(`left out ${formatNumber(filtered)} ${leftOut}`)
  if (rejected > 0) parts.push(rejectedText(rejected, rejectedPath))
  if (kind === 'interrupted')
    parts.push(
      `interrupted; ${name === '-' ? 'what was not sent is lost, since stdin cannot be read again' : 'run the same command to go on'}`,
    )
  if (kind === 'failed') parts.push(`failed: ${reason}`)
  return `${nameText(name)}: ${parts.join('; ')}`
}

function rejectedText(rejected: number, path: string | undefined): string {
  return `the service rejected ${formatEntryCount(rejected)}${path === undefined ? '' : `, kept with the reasons in ${path}`}`
}

export function totalText({ files, complete, accepted, rejected, seconds }: Total): string {
  const rate = seconds > 0 ? `, ${formatNumber(Math.round((accepted + rejected) / seconds))} entries/s` : ''
  return `${formatNumber(complete)} of ${formatCount(files, 'file', 'files')} complete: ${formatEntryCount(accepted)} sent in ${seconds.toFixed(1)} s${rate}`
}

export function resultData({ name, kind, earlier, doneAt, reason, rejectedPath, ...rest }: FileResult): object {
  return {
    file: name,
    result: kind,
    ...rest,
    earlier,
    doneAt: doneAt ?? null,
    reason: reason ?? null,
    rejectedPath: rejectedPath ?? null,
  }
}

function nameText(name: string): string {
  return name === '-' ? 'stdin' : name
}
