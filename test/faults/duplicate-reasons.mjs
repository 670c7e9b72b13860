/** Why a record came twice: what the first sender could not know, or a process that was stopped past its lease. */

/** From a reply's last byte to its acknowledgement on disk; processes share two processors. */
const ACK_MS = 400
/** What could not be acknowledged on a full disk is tried again at each renewal of the lease. */
const AFTER_FULL_MS = 7_000
/** Others may take over what a process holds that is stopped for so long, where they cannot see it. */
const LEASE_MS = 25_000

/**
 * @typedef {object} LifeRecord one process, as the harness saw it
 * @property {number} pid
 * @property {number} startedAt
 * @property {number} endedAt
 * @property {number} [killedAt] when it ran last; undefined where it ended in order
 * @property {{ from: number, to: number }[]} stops
 * @property {string} how for people: its namespace, skew and end
 */

/**
 * @param {import('./fault-server.mjs').FaultServer} server
 * @param {readonly LifeRecord[]} lives
 * @param {{ downs: readonly number[], full: readonly { from: number, to: number }[] }} events
 * @returns {{ counts: Record<string, number>, unexplained: string[], splitBatches: number }} entries that came once more, by the reason;
 *   `splitBatches`: of these, those that came under another batch id without a reason to
 */
export function duplicateReasons(server, lives, { downs, full }) {
  /** @type {Map<number, import('./fault-server.mjs').Call[]>} */
  const callsOf = new Map()
  for (const call of server.calls) {
    if (call.stored === 0) continue
    for (const n of call.numbers ?? []) callsOf.set(n, [...callsOf.get(n) ?? [], call])
  }
  const lifeOf = (/** @type {import('./fault-server.mjs').Call} */ { connection: { pid }, at }) =>
    lives.find((life) => life.pid === pid && life.startedAt <= at && at <= life.endedAt + 1_000)

  const reasonOf = (/** @type {import('./fault-server.mjs').Call} */ call, /** @type {import('./fault-server.mjs').Call} */ again) => {
    const life = lifeOf(call)
    const answeredAt = call.answeredAt ?? Infinity
    if (answeredAt === Infinity || downs.some((at) => at >= call.at && at < answeredAt + ACK_MS)) return 'lost reply'
    // One that was killed before its connection was looked at is not known by name.
    const killedAt = life === undefined ? Math.min(...lives.map(({ killedAt: at = Infinity }) => (at >= call.at ? at : Infinity))) : life.killedAt ?? Infinity
    if (killedAt < answeredAt + ACK_MS) return 'kill'
    if (full.some(({ from, to }) => from <= answeredAt + ACK_MS && answeredAt < to && killedAt < to + AFTER_FULL_MS)) return 'kill'
    if (life?.stops.some(({ from, to }) => from < answeredAt + ACK_MS && to > call.at)) return 'stop'
    const isStopped = [life, lifeOf(again)].some((one) => one?.stops.some(({ from, to }) => to - from > LEASE_MS && from < again.at))
    return isStopped ? 'stop' : 'unexplained'
  }

  /** @type {Record<string, number>} */
  const counts = {}
  /** @type {Map<string, number>} */
  const unexplained = new Map()
  let splitBatches = 0
  for (const calls of callsOf.values()) {
    for (const [index, again] of calls.slice(1).entries()) {
      const call = /** @type {import('./fault-server.mjs').Call} */ (calls[index])
      const reason = reasonOf(call, again)
      counts[reason] = (counts[reason] ?? 0) + 1
      if (call.batchId !== again.batchId && reason !== 'stop') splitBatches += 1
      if (reason !== 'unexplained') continue
      const words = `sent by ${lifeOf(call)?.how ?? 'nobody known'}, ${Math.round(again.at - (call.answeredAt ?? 0))} ms after its reply by ${lifeOf(again)?.how ?? 'nobody known'}`
      unexplained.set(words, (unexplained.get(words) ?? 0) + 1)
    }
  }
  return { counts, unexplained: [...unexplained].map(([words, count]) => `${count} entries ${words}`), splitBatches }
}
