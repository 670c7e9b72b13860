/** Reads what arrived at a service, and compares it with what arrived at another. */

/** @typedef {import('../../../src/protocol/log-entry.js').LogEntry} LogEntry */
/** @typedef {{ entries: LogEntry[], requestLogs: import('../../../src/protocol/resources.js').RequestLog[] }} Arrived */

/** In the order of arrival. @param {import('pino-ingest/service').IngestService} service @returns {Arrived} */
export function readArrived(service) {
  const page = { limit: 1000 }
  return {
    entries: service
      .entries(page)
      .items.toSorted((a, b) => a.seq - b.seq)
      .map(({ entry }) => entry),
    requestLogs: service
      .requestLogs(page)
      .items.toSorted((a, b) => a.seq - b.seq)
      .map(({ request }) => request),
  }
}

/** @param {Arrived} one @param {Arrived} other @returns {string[]} the differences; batches may arrive in any order */
export function differences(one, other) {
  return /** @type {const} */ (['entries', 'requestLogs']).flatMap((kind) => {
    const [texts = [], others = []] = [one, other].map((arrived) =>
      arrived[kind].map((record) => canonicalJson(record)),
    )
    return [...without(texts, others).map((text) => `- ${text}`), ...without(others, texts).map((text) => `+ ${text}`)]
  })
}

/** @param {readonly string[]} texts @param {readonly string[]} others each removes one equal text */
function without(texts, others) {
  const rest = [...texts]
  for (const other of others) {
    const at = rest.indexOf(other)
    if (at !== -1) rest.splice(at, 1)
  }
  return rest
}

/** With sorted keys. @param {unknown} value */
export function canonicalJson(value) {
  return JSON.stringify(value, (_key, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** Such as `2 Error, 3 PaymentError`. @param {Arrived} arrived */
export function countErrors({ entries }) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const { error } of entries) {
    if (error === undefined) continue
    const type = `${error.type}${error.stack === undefined ? ' without a stack' : ''}`
    counts[type] = (counts[type] ?? 0) + 1
  }
  return Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, count]) => `${count} ${type}`)
    .join(', ')
}
