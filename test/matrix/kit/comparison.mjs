/** Compares the entries of a shop with its requests and its logged records. */
import { SECRETS, USER_AGENT } from './visits.mjs'

/** The order in the printed row. */
export const ASPECTS = /** @type {const} */ ([
  'level',
  'time',
  'error',
  'request',
  'trace',
  'user',
  'request id',
  'request log',
  'service',
])

/**
 * The facts about the records that the shop's library writes.
 * @typedef {object} Facts
 * @property {RegExp} end message of the record that ends a request
 * @property {'info' | 'error'} failedEnd level of that record for the failed request
 * @property {{ level: string, type: string, message: string }} [failure] the error that the failed request logs, if it is not the shop's own
 * @property {readonly ('cause' | 'code' | 'ip' | 'user agent')[]} [lacks] data that the library does not write
 * @property {Readonly<Record<string, string>>} [messages] how the library changes a message
 * @property {string} [service] the name that the shop sets itself
 * @property {string} [route] pattern of the order's route, if the request log must have it
 */

/** @typedef {Record<(typeof ASPECTS)[number], string[]>} Problems */
/** @typedef {import('../../../src/protocol/log-entry.js').LogEntry} LogEntry */

const SHOP_ERROR = { level: 'error', type: 'PaymentError', message: 'card declined' }
const LOOPBACK = ['127.0.0.1', '::1', '::ffff:127.0.0.1']

/**
 * @param {{ entries: readonly LogEntry[], requestLogs: readonly import('../../../src/protocol/resources.js').RequestLog[] }} arrived
 * @param {{ visits: readonly import('./visits.mjs').Visit[], startedAt: number, endedAt: number }} asked of the shop's process, before its lines were piped
 * @param {Facts} facts
 * @returns {Problems} by aspect
 */
export function compare({ entries, requestLogs }, { visits, startedAt, endedAt }, facts) {
  const problems = /** @type {Problems} */ (Object.fromEntries(ASPECTS.map((aspect) => [aspect, []])))
  const lacks = (/** @type {string} */ what) => (facts.lacks ?? []).some((one) => one === what)
  const expect = (
    /** @type {keyof Problems} */ aspect,
    /** @type {string} */ what,
    /** @type {unknown} */ actual,
    /** @type {unknown} */ wanted,
  ) => {
    const isRight = typeof wanted === 'function' ? wanted(actual) : actual === wanted
    if (!isRight)
      problems[aspect].push(
        `${what} is ${JSON.stringify(actual)}${typeof wanted === 'function' ? '' : `, not ${JSON.stringify(wanted)}`}`,
      )
  }
  const expectTime = (
    /** @type {string} */ what,
    /** @type {string | undefined} */ timestamp,
    /** @type {number} */ from,
    /** @type {number} */ to,
  ) => {
    const time = Date.parse(timestamp ?? '')
    if (!(time >= from && time <= to))
      problems.time.push(
        `${what} has ${timestamp}, not within ${new Date(from).toISOString()} and ${new Date(to).toISOString()}`,
      )
  }
  const expectError = (/** @type {string} */ what, /** @type {LogEntry | undefined} */ entry, failure = SHOP_ERROR) => {
    const { error } = entry ?? {}
    expect('error', `${what}: type`, error?.type, failure.type)
    expect('error', `${what}: message`, error?.message, failure.message)
    const frames = [`${failure.type}: ${failure.message}\n`, '    at ']
    if (failure === SHOP_ERROR) {
      frames.push('at charge (')
      if (!lacks('cause')) frames.push('Error: issuer timeout', 'at askIssuer (')
      if (!lacks('code'))
        expect(
          'error',
          `${what}: metadata.error.code`,
          /** @type {{ code?: string } | undefined} */ (entry?.metadata?.['error'])?.code,
          'E_CARD',
        )
    }
    for (const text of frames)
      if (error?.stack?.includes(text) !== true)
        problems.error.push(`${what}: the stack lacks ${JSON.stringify(text)}: ${JSON.stringify(error?.stack)}`)
  }
  const expectRequest = (
    /** @type {keyof Problems} */ aspect,
    /** @type {string} */ what,
    /** @type {import('../../../src/protocol/log-entry.js').LogEntry['request'] | import('../../../src/protocol/resources.js').RequestLog | undefined} */ request,
    /** @type {import('./visits.mjs').Visit} */ { path, status, from },
  ) => {
    expect(aspect, `${what}: method`, request?.method, 'GET')
    expect(aspect, `${what}: path`, request?.path, path)
    expect(aspect, `${what}: status_code`, request?.status_code, status)
    expect(
      aspect,
      `${what}: duration_ms`,
      request?.duration_ms,
      (/** @type {unknown} */ ms) => typeof ms === 'number' && ms >= 0 && ms <= endedAt - from,
    )
  }
  for (const { message, service, version } of entries) {
    expect('service', `'${message}'`, service, facts.service ?? entries[0]?.service)
    expect('service', `'${message}': version`, version, entries[0]?.version)
  }
  const messageOf = (/** @type {string} */ message) => facts.messages?.[message] ?? message
  const find = (/** @type {readonly LogEntry[]} */ among, /** @type {string} */ message) => {
    const found = among.filter((entry) => entry.message === messageOf(message))
    if (found.length !== 1) problems.level.push(`${found.length} entries '${message}'`)
    return found[0]
  }

  for (const [message, level] of [
    ['shop is open', 'info'],
    ['stock is low', 'warn'],
    ['payment failed', 'error'],
  ]) {
    const entry = find(entries, message ?? '')
    if (entry === undefined) continue
    expect('level', `'${message}'`, entry.level, level)
    expectTime(`'${message}'`, entry.timestamp, startedAt, endedAt)
    if (level === 'error') expectError(`'${message}'`, entry)
  }

  for (const asked of visits) {
    const { path, status, requestId, traceId, spanId, from } = asked
    const own = entries.filter((entry) => {
      // Breadcrumbs may belong to another request.
      const json = JSON.stringify({ ...entry, breadcrumbs: undefined })
      return json.includes(requestId) || json.includes(traceId)
    })
    if (own.length === 0) for (const aspect of ASPECTS) problems[aspect].push(`${path}: nothing arrived`)
    for (const entry of own) {
      const header = [...SECRETS, 'X-Powered-By'].find((text) =>
        JSON.stringify(entry).toLowerCase().includes(text.toLowerCase()),
      )
      if (header !== undefined) problems.request.push(`${path} '${entry.message}' has the header ${header}`)
      const what = `${path} '${entry.message}'`
      expectTime(what, entry.timestamp, from, endedAt)
      expect('trace', `${what}: trace_id`, entry.trace?.trace_id, traceId)
      if (spanId !== undefined) expect('trace', `${what}: span_id`, entry.trace?.span_id, spanId)
      expect('request id', what, entry.request_id, requestId)
    }
    const end = own.findLast((entry) => facts.end.test(entry.message))
    if (end === undefined) problems.request.push(`${path}: no entry for its end`)
    else {
      const levels = { 200: ['info'], 404: ['info', 'warn'], 500: [facts.failedEnd] }[status] ?? []
      expect('level', `${path} '${end.message}'`, end.level, (/** @type {string} */ level) => levels.includes(level))
      expectRequest('request', `${path} '${end.message}'`, end.request, asked)
    }
    if (!lacks('ip') && !own.some(({ request }) => LOOPBACK.includes(request?.ip ?? '')))
      problems.request.push(`${path}: no entry has the ip`)
    if (!lacks('user agent') && !own.some(({ request }) => request?.user_agent === USER_AGENT))
      problems.request.push(`${path}: no entry has the user_agent`)
    if (status === 200) {
      const { user } = find(own, 'order read') ?? {}
      for (const [field, value] of [
        ['id', 'u-42'],
        ['email', 'jane@example.com'],
        ['name', 'Jane'],
      ])
        expect('user', `${path}: user.${field}`, user?.[/** @type {'id'} */ (field)], value)
    }
    if (status === 500) {
      const failure = facts.failure ?? SHOP_ERROR
      const failed = own.find(({ level, error }) => level === failure.level && error?.type === failure.type)
      if (failed === undefined)
        problems.error.push(
          `${path}: no entry of level ${failure.level} has the ${failure.type}; there are: ${own.map(({ level, message, error }) => `${level} '${message}' ${error?.type}`).join(', ')}`,
        )
      else expectError(path, failed, failure)
    }
    const logs = requestLogs.filter((log) => log.request_id === requestId)
    if (logs.length !== 1)
      problems['request log'].push(
        `${path}: ${logs.length} request logs with its id; there are: ${requestLogs.map((log) => `${log.path} ${log.request_id}`).join(', ') || 'none'}`,
      )
    for (const log of logs) {
      expectRequest('request log', path, log, asked)
      expectTime(`request log of ${path}`, log.timestamp, from, endedAt)
      if (facts.route !== undefined && status !== 500)
        expect('request log', `${path}: route`, log.route, status === 200 ? facts.route : undefined)
    }
  }
  return problems
}
