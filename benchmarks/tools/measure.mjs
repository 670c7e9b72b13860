/** CPU of this process, its garbage collection and compilation included. */

/** @param {NodeJS.CpuUsage} from @returns {number} microseconds since */
export function cpuUs(from) {
  const { user, system } = process.cpuUsage(from)
  return user + system
}

/** What was measured must have done its work. @param {number} received @param {number} expected */
export function mustBe(received, expected) {
  if (received !== expected) throw new Error(`${received} records instead of ${expected}`)
}
