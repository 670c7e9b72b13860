/** Monotonic time. */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 10

/** Milliseconds of the system's monotonic clock, which all processes of a machine share. */
export function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

/** @param {() => boolean} isTrue @param {number} timeoutMs @returns {Promise<boolean>} whether it came true */
export async function until(isTrue, timeoutMs) {
  const deadline = nowMs() + timeoutMs
  while (!isTrue()) {
    if (nowMs() > deadline) return false
    await sleep(LOOK_EVERY_MS)
  }
  return true
}
