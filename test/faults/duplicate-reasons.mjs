/** Finds the reason of a duplicate: the first sender got no reply, or its process was suspended for longer than its lease. */

/** Time from a reply's last byte to its acknowledgement on disk; the processes share two processors. */
const ACK_MS = 400
/** Acknowledgements that failed on a full disk are retried at each renewal of the lease. */
const AFTER_FULL_MS = 7_000
/** After a suspension of this length, processes of another PID namespace may claim the process's folder. */
const LEASE_MS = 25_000

/**
 * @typedef {object} ProcessRecord one process, as seen by the harness
 * @property {number} pid
 * @property {number} startedAt
 * @property {number} endedAt
 * @property {number} [killedAt] when it last ran; undefined if it ended normally
 * @property {{ from: number, to: number }[]} stops
 * @property {number} [first] number of its first record
 * @property {number} [last] number of its last record
 * @property {string} [said] its last account, and the end of its stderr
 * @property {string} how description: its PID namespace, clock error and end
 */

/**
 * @param {import('./fault-server.mjs').FaultServer} server
 * @param {readonly ProcessRecord[]} processes
 * @param {{ downs: readonly number[], full: readonly { from: number, to: number }[] }} events
 * @returns {{ counts: Record<string, number>, unexplained: string[], splitBatches: number }} number of duplicates, by reason;
 *   `splitBatches`: duplicates that arrived under another batch id without a reason
 */
export function duplicateReasons(server, processes, { downs, full }) {
  /** @type {Map<number, import('./fault-server.mjs').Call[]>} */
  const callsOf = new Map()
  for (const call of server.calls) {
    if (call.stored === 0) continue
    for (const n of call.numbers ?? []) callsOf.set(n, [...(callsOf.get(n) ?? []), call])
  }
  const runOf = (/** @type {import('./fault-server.mjs').Call} */ { connection: { pid }, at }) =>
    processes.find(
      (processRun) => processRun.pid === pid && processRun.startedAt <= at && at <= processRun.endedAt + 1_000,
    )

  const loggerOf = (/** @type {number} */ n) => processes.find(({ first = 0, last = -1 }) => first <= n && n <= last)
  const isPastLease = (
    /** @type {ProcessRecord | undefined} */ processRun,
    /** @type {import('./fault-server.mjs').Call} */ again,
  ) => processRun?.stops.some(({ from, to }) => to - from > LEASE_MS && from < again.at) === true

  const reasonOf = (
    /** @type {number} */ n,
    /** @type {import('./fault-server.mjs').Call} */ call,
    /** @type {import('./fault-server.mjs').Call} */ again,
  ) => {
    const processRun = runOf(call)
    const answeredAt = call.answeredAt ?? Infinity
    if (answeredAt === Infinity || downs.some((at) => at >= call.at && at < answeredAt + ACK_MS)) return 'lost reply'
    // The process is unknown if it was killed before its connection was looked up.
    const killedAt =
      processRun === undefined
        ? Math.min(...processes.map(({ killedAt: at = Infinity }) => (at >= call.at ? at : Infinity)))
        : (processRun.killedAt ?? Infinity)
    if (killedAt < answeredAt + ACK_MS) return 'kill'
    if (processRun !== undefined && processRun.killedAt === undefined && processRun.endedAt < answeredAt + ACK_MS)
      return 'end before the reply was read'
    if (full.some(({ from, to }) => from <= answeredAt + ACK_MS && answeredAt < to && killedAt < to + AFTER_FULL_MS))
      return 'kill'
    if (processRun?.stops.some(({ from, to }) => from < answeredAt + ACK_MS && to > call.at)) return 'stop'
    // After such a stop the process that logged it keeps its open batch under a new id, and another process may send both.
    const logger = call.batchId === again.batchId ? undefined : loggerOf(n)
    const isStopped = [processRun, runOf(again), logger].some((one) => isPastLease(one, again))
    return isStopped ? 'stop' : 'unexplained'
  }

  /** @type {Record<string, number>} */
  const counts = {}
  /** @type {Map<string, number>} */
  const unexplained = new Map()
  let splitBatches = 0
  for (const [n, calls] of callsOf) {
    for (const [index, again] of calls.slice(1).entries()) {
      const call = /** @type {import('./fault-server.mjs').Call} */ (calls[index])
      const reason = reasonOf(n, call, again)
      counts[reason] = (counts[reason] ?? 0) + 1
      if (call.batchId !== again.batchId && reason !== 'stop' && !isPastLease(loggerOf(n), again)) splitBatches += 1
      if (reason !== 'unexplained') continue
      const words = `sent by ${runOf(call)?.how ?? 'nobody known'}, ${Math.round(again.at - (call.answeredAt ?? 0))} ms after its reply by ${runOf(again)?.how ?? 'nobody known'}`
      unexplained.set(words, (unexplained.get(words) ?? 0) + 1)
    }
  }
  return { counts, unexplained: [...unexplained].map(([words, count]) => `${count} entries ${words}`), splitBatches }
}
