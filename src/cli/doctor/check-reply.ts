/** Checks proxy, address, key and clock with one request that stores nothing. */
import { randomUUID } from 'node:crypto'
import { createHttp } from '../../client/http.js'
import { HttpFailure } from '../../client/http-types.js'
import type { HttpReply } from '../../client/http-types.js'
import { classifyReply, describeReply, findRedirectTarget, parseIngestResult } from '../../client/reply-parser.js'
import type { Settings } from '../../options/resolve-options.js'
import { PATHS } from '../../protocol/limits.js'
import { fail, pass } from '../shared/check.js'
import type { Check } from '../shared/check.js'

const MAX_SKEW_MS = 60_000

/** Sends an empty batch: no endpoint only checks the key, and the log service checks the key before the batch. */
export async function checkReply(
  settings: Settings,
  mask: (text: string) => string,
  wallNow: () => number,
): Promise<Check[]> {
  const http = createHttp({ ...settings, maxConnections: 1 })
  const proxy = checkProxy(settings)
  try {
    const reply = await http.post(PATHS.ingest, JSON.stringify({ batch_id: randomUUID(), logs: [] }))
    const checks = toReplyChecks(reply, mask)
    if (checks.some(({ name, ok }) => name === 'address' && !ok)) return [proxy, ...checks]
    return [proxy, ...checks, ...checkClock(reply, wallNow())]
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error
    const { message, remedy = 'check url and proxy, firewalls, and for a private CA PINO_INGEST_TLS_CA_FILE' } = error
    return [proxy, fail('address', message, remedy)]
  } finally {
    await http.close()
  }
}

function checkProxy({ proxy }: Settings): Check {
  if (proxy === false) return pass('proxy', 'none')
  const { protocol, host } = new URL(proxy) // Without its password.
  return pass('proxy', `${protocol}//${host}`)
}

/** Derives the checks of URL and key from the reply to an empty batch. Pure. */
function toReplyChecks(reply: HttpReply, mask?: (text: string) => string): Check[] {
  const { status } = reply
  const reason = describeReply(reply, mask)
  const address = pass('address', `a service answers (status ${status})`)
  switch (classifyReply(reply, 'ingest-result')) {
    case 'ok': {
      const key = pass('key', `accepted (status ${status}); an empty batch was sent, nothing is stored`)
      if (parseIngestResult(reply.text) !== undefined) return [address, key]
      return [{ ...address, fix: "its reply is not an ingest result: check that url is the log service's" }, key]
    }
    case 'refused':
      return [
        address,
        pass('key', `accepted; the batch was rejected because it is empty (${reason}), nothing is stored`),
      ]
    case 'retryable':
      if (status === 429)
        return [
          address,
          pass('key', `not refused, but the log service limits the rate (${reason})`, 'nothing: the transport waits'),
        ]
      return [
        address,
        fail(
          'key',
          `cannot be checked: the log service fails at present (${reason})`,
          'try again later; the transport stores entries until the log service recovers',
        ),
      ]
    case 'endpoint-rejected':
      if (status !== 401 && status !== 403) return [describeMisdirection(reply, reason)]
      return [
        address,
        fail(
          'key',
          `refused (${reason})`,
          'set PINO_INGEST_API_KEY, or the file that PINO_INGEST_API_KEY_FILE names, to a valid key',
        ),
      ]
  }
}

function describeMisdirection(reply: HttpReply, reason: string): Check {
  const { status } = reply
  if (status < 300 || status > 399)
    return fail('address', `not the log service (${reason})`, 'check host and path; the path must end with /api/v1')
  const target = findRedirectTarget(reply)
  return fail(
    'address',
    `redirects${target === undefined ? '' : ` to ${target}`} (status ${status}); not followed, since the key would go there`,
    'if you trust the target, set url to it',
  )
}

function checkClock({ headers }: HttpReply, nowMs: number): Check[] {
  const serviceMs = Date.parse([headers['date']].flat()[0] ?? '')
  if (Number.isNaN(serviceMs)) return []
  const skewMs = nowMs - serviceMs
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return [pass('clock', "within a minute of the log service's")]
  const detail = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs < 0 ? 'behind' : 'ahead of'} the log service's`
  return [pass('clock', detail, "set this machine's clock (NTP): timestamps are wrong by as much")]
}
