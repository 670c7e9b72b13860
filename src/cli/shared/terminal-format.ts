/** Numbers as people read them, and back. Pure. */
import { createUsageError } from './command.js'
import type { ItemKind } from '../spool/item-kind.js'

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `512 B`, `4.3 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  let size = bytes / 1024
  let at = 0
  while (size >= 1023.95 && at < SIZES.length - 1) {
    size /= 1024
    at += 1
  }
  return `${size.toFixed(1)} ${SIZES[at]}`
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3 h`: whole units, since an age only tells how serious it is. */
export function formatAge(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.floor(ms / DAY_MS)} d`
}

/** `1,150`. */
export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 entry`, `1,150 entries`. */
export function formatCount(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

export function formatEntryCount(count: number): string {
  return formatCount(count, 'entry', 'entries')
}

/** @param kind undefined where it is not known */
export function formatItemCount(count: number, kind: ItemKind | undefined): string {
  return kind === 'requests' ? formatCount(count, 'request log', 'request logs') : formatEntryCount(count)
}

export function formatDeadLetterCount(count: number): string {
  return formatCount(count, 'dead letter', 'dead letters')
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

/** `30s`, `15m`, `12h`, `7d` in milliseconds. @throws CommandError */
export function parseAge(text: string, flag: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined || unit === undefined)
    throw createUsageError(`--${flag} must be a number with s, m, h or d, as 7d, got ${JSON.stringify(text)}`)
  return Number(number) * (UNITS[unit] as number)
}

/** @throws CommandError */
export function parseInteger(text: string, flag: string, max: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1 || Number(text) > max) {
    throw createUsageError(`--${flag} must be an integer from 1 to ${max}, got ${JSON.stringify(text)}`)
  }
  return Number(text)
}

/** Rows with their columns under each other; the last one is as long as it is. */
export function formatColumns(rows: readonly (readonly string[])[], indent: string): string {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  return rows
    .map(
      (row) =>
        `${indent}${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
