/** Checks the outcome of the run, and finds the entries that the report shows. */
import { TILL_BATCH } from './till.mjs'

const MAX_BATCH = 100

export function allEntries(service) {
  return service
    .entries({ limit: Infinity })
    .items.map(({ entry }) => entry)
    .toReversed()
}

/** Batches of the shop. */
export function batchesOf(service) {
  return service.requests.filter(({ endpoint, batchId }) => endpoint === 'ingest' && batchId !== TILL_BATCH)
}

/** The failed payment: an error with its causes, its request and its trace. */
export function failedPayment(entries) {
  return entries.find(({ error, request, trace }) => error?.stack?.includes('caused by') && request && trace)
}

/** An HTTP request logged by pino-http. */
export function plainRequest(entries) {
  return entries.find(({ service, request, error }) => service === 'shop' && request?.status_code === 200 && !error)
}

/** A placed order, which the shop logs with a custom level. */
export function placedOrder(entries) {
  return entries.find(({ metadata, user, tags }) => metadata?.level === 'audit' && user && tags)
}

/** Entries of the order that sold the last but one poster, from both services, by time. */
export function sharedTrace(entries) {
  const low = entries.find(({ message }) => message === 'stock is low')
  const ofTrace = entries.filter(({ trace }) => trace !== undefined && trace.trace_id === low?.trace?.trace_id)
  return ofTrace.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
}

/** Records other than entries. */
export function besides(service) {
  const all = { limit: Infinity }
  return {
    requestLogs: service.requestLogs(all).items.map(({ request }) => request),
    // Oldest first.
    releases: service.releases(all).items.toReversed(),
    monitors: [...new Set(service.heartbeats(all).items.map(({ monitor }) => monitor))],
    feedback: service.feedback(all).items.map(({ feedback }) => feedback),
    rejected: service.rejected(all).items,
  }
}

/** @returns descriptions of failed checks */
export function problemsOf(service, { requests, logged, exitCode }) {
  const entries = allEntries(service)
  const batches = batchesOf(service)
  const { requestLogs, releases, monitors, feedback, rejected } = besides(service)
  const expectations = [
    [exitCode === 0, `the application ended with ${exitCode}, not 0`],
    [entries.length === logged, `${logged} lines were logged, but ${entries.length} entries arrived`],
    [batches.every((one) => one.entries <= MAX_BATCH), `a batch had more than ${MAX_BATCH} entries`],
    [
      service.requests.every(({ status, batchId }) => status === 200 || batchId === TILL_BATCH),
      'the service rejected a batch of the shop; see /local/requests',
    ],
    [failedPayment(entries) !== undefined, 'no entry of a failed payment with causes, request and trace arrived'],
    [plainRequest(entries) !== undefined, 'no entry of an HTTP request arrived'],
    [placedOrder(entries) !== undefined, 'no entry of the custom level audit, with user and tags, arrived'],
    [entries.some(({ error }) => error?.type === 'AggregateError'), 'no entry of an AggregateError arrived'],
    [new Set(sharedTrace(entries).map((entry) => entry.service)).size === 2, 'no trace has entries of both services'],
    [
      requestLogs.filter(({ service: name }) => name === 'shop').length === requests.count,
      `${requests.count} requests were sent to the shop, but not as many request logs of it arrived`,
    ],
    [
      requestLogs.some(({ route }) => route === '/orders/:id') &&
        requestLogs.some(({ route }) => route === '/stock/:sku/reserve'),
      'the request logs of one service have no route',
    ],
    [releases.length === 2, `2 releases were registered, but ${releases.length} arrived`],
    [
      entries.length > 0 && entries.every(({ release_id }) => release_id === releases.at(-1)?.release_id),
      'an entry does not carry the id of the newer release',
    ],
    [monitors.length === 2, `2 monitors were pinged, but ${monitors.length} arrived`],
    [
      feedback.length === 1 &&
        entries.some(
          ({ error, metadata }) => error?.type === 'PaymentError' && metadata?.event_id === feedback[0].event_id,
        ),
      'the feedback on the failed payment did not arrive',
    ],
    [
      rejected.length === 1 && rejected[0].batch_id === TILL_BATCH,
      'the rejected entries are not exactly the one of the till; see /local/rejected',
    ],
  ]
  return [...requests.surprises, ...expectations.filter(([holds]) => !holds).map(([, problem]) => problem)]
}
