/** The selected levels as a filter (pure). */
import { LEVELS } from '../../../protocol/log-entry.js'
import type { Level } from '../../../protocol/log-entry.js'

/** No level and all levels both mean no filter. */
export function toggledLevel(filter: string | undefined, level: Level): string | null {
  const chosen = new Set(filter?.split(','))
  if (!chosen.delete(level)) chosen.add(level)
  const levels = LEVELS.filter((one) => chosen.has(one))
  return levels.length === 0 || levels.length === LEVELS.length ? null : levels.join()
}
