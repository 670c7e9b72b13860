/** Parses sizes, durations and integers of flags. Pure. */
import { createUsageError } from './command.js'

const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 }
const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `256mb`, `10GiB`. A kB has 1024 bytes. @throws CommandError */
export function parseBytes(flag: string, text: string): number {
  return parseQuantity(flag, text.replace(/ib$/i, 'b'), BYTES, 'a size like 256mb or 1gb')
}

/** `12h`. @throws CommandError */
export function parseDurationMs(flag: string, text: string): number {
  return parseQuantity(flag, text, MS, 'an age like 30m, 12h or 7d')
}

/** @throws CommandError */
export function parseInteger(flag: string, text: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw createUsageError(`--${flag} must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`)
}

function parseQuantity(flag: string, text: string, units: Readonly<Record<string, number>>, rule: string): number {
  const [, number = '', unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?) ?([a-z]+)$/i.exec(text) ?? []
  const factor = new Map(Object.entries(units)).get(unit.toLowerCase()) ?? 0
  const value = Math.round(Number(number) * factor)
  if (value >= 1 && Number.isSafeInteger(value)) return value
  throw createUsageError(
    `--${flag} must be ${rule}, got ${JSON.stringify(text)}; the units are ${Object.keys(units).join(', ')}`,
  )
}
