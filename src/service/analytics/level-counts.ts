/** Counts by level (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Level } from '../../protocol/log-entry.js'

export type MutableLevelCounts = Record<Level | 'total', number>

export function createLevelCounts(): MutableLevelCounts {
  return { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
}

export function addToCounts(counts: MutableLevelCounts, level: Level, n = 1): void {
  counts[level] += n
  counts.total += n
}

/** Levels that count as errors of a release. */
export function isErrorLevel(level: Level): boolean {
  return level === 'error' || level === 'fatal'
}

/** Rises with the level. */
export function levelCode(level: Level): number {
  return LEVELS.indexOf(level)
}
