/** What must be true after the run, and the entries that the report shows. */

const MAX_BATCH = 100

export function allEntries(service) {
  return service.entries({ limit: Infinity }).items.map(({ entry }) => entry).toReversed()
}

export function batchesOf(service) {
  return service.requests.filter(({ endpoint }) => endpoint === 'ingest')
}

/** The failed payment: an error with its chain of causes, the request it happened in, and its trace. */
export function failedPayment(entries) {
  return entries.find(({ error, request, trace }) => error?.stack?.includes('caused by') && request && trace)
}

/** A plain HTTP request, as pino-http logs it. */
export function plainRequest(entries) {
  return entries.find(({ service, request, error }) => service === 'shop' && request?.status_code === 200 && !error)
}

/** A placed order, which the shop logs with a level of its own. */
export function placedOrder(entries) {
  return entries.find(({ metadata, user, tags }) => metadata?.level === 'audit' && user && tags)
}

/** Entries of the order that sold the last but one poster, through both services, by time. */
export function sharedTrace(entries) {
  const low = entries.find(({ message }) => message === 'stock is low')
  const ofTrace = entries.filter(({ trace }) => trace !== undefined && trace.trace_id === low?.trace?.trace_id)
  return ofTrace.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
}

/** Empty where all is well. */
export function problemsOf(service, { requests, logged, exitCode }) {
  const entries = allEntries(service)
  const batches = batchesOf(service)
  const expectations = [
    [exitCode === 0, `the application ended with ${exitCode}, not 0`],
    [entries.length === logged, `${logged} lines were logged, but ${entries.length} entries arrived`],
    [batches.every((one) => one.entries <= MAX_BATCH), `a batch had more than ${MAX_BATCH} entries`],
    [batches.every((one) => one.status === 200), 'the service refused a batch; see /local/rejected'],
    [failedPayment(entries) !== undefined, 'no entry of a failed payment with causes, request and trace arrived'],
    [plainRequest(entries) !== undefined, 'no entry of an HTTP request arrived'],
    [placedOrder(entries) !== undefined, 'no entry of the custom level audit, with user and tags, arrived'],
    [entries.some(({ error }) => error?.type === 'AggregateError'), 'no entry of an AggregateError arrived'],
    [new Set(sharedTrace(entries).map((entry) => entry.service)).size === 2, 'no trace has entries of both services'],
  ]
  return [...requests.surprises, ...expectations.filter(([holds]) => !holds).map(([, problem]) => problem)]
}
