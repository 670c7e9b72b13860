/** How often a thread of this process went to sleep: each time somebody has to wake it, and the log call that does pays for it. */
import { readFileSync } from 'node:fs'

/** @param {string} thread none: '' @returns {number} since the thread began */
export function waitsOf(thread) {
  if (thread === '') return 0
  return Number(
    /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/self/task/${thread}/status`, 'utf8'))?.[1],
  )
}
