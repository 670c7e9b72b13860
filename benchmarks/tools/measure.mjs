/** CPU of this process, including garbage collection and compilation. */

/** @param {NodeJS.CpuUsage} from @returns {number} microseconds since */
export function cpuUs(from) {
  const { user, system } = process.cpuUsage(from)
  return user + system
}

/** Checks that the measured code has done its work. @param {number} received @param {number} expected */
export function mustBe(received, expected) {
  if (received !== expected) throw new Error(`${received} records instead of ${expected}`)
}
