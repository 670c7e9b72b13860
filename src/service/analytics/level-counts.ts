/** Counts entries by level (pure). */
import type { Level } from '../../protocol/log-entry.js'

export type MutableLevelCounts = Record<Level | 'total', number>

export function createLevelCounts(): MutableLevelCounts {
  return { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
}

export function countLevels(entries: Iterable<{ readonly level: Level }>): MutableLevelCounts {
  const counts = createLevelCounts()
  for (const { level } of entries) addToCounts(counts, level)
  return counts
}

export function addToCounts(counts: MutableLevelCounts, level: Level): void {
  counts[level]++
  counts.total++
}

/** Whether the level counts as an error in release statistics. */
export function isErrorLevel(level: Level): boolean {
  return level === 'error' || level === 'fatal'
}
