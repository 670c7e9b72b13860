/** The check of address, key and clock, by one request that stores nothing. */
import { randomUUID } from 'node:crypto'
import { createHttp } from '../../client/http.js'
import { HttpFailure } from '../../client/http-types.js'
import type { HttpReply } from '../../client/http-types.js'
import { classifyReply, parseIngestResult, describeReply } from '../../client/reply-parser.js'
import type { Settings } from '../../options/resolve-options.js'
import { PATHS } from '../../protocol/limits.js'
import type { Check } from './doctor-check.js'

const MAX_SKEW_MS = 60_000

/**
 * The interface has no endpoint that only looks at the key, so an empty batch is sent: the least there is. Whatever the
 * service says to it, it has looked at the key before.
 */
export async function checkReply(
  settings: Settings,
  mask: (text: string) => string,
  wallNow: () => number,
): Promise<Check[]> {
  const http = createHttp({ ...settings, apiKey: settings.apiKey.reveal(), maxConnections: 1 })
  try {
    const reply = await http.post(PATHS.ingest, JSON.stringify({ batch_id: randomUUID(), logs: [] }))
    const checks = toReplyChecks(reply, mask)
    const isService = checks.every(({ name, ok }) => name !== 'address' || ok)
    return isService ? [...checks, ...checkClock(reply, wallNow())] : checks
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error
    const fix = error.remedy ?? 'check url and proxy, and whether the service runs there'
    return [{ name: 'address', ok: false, detail: error.message, fix }]
  } finally {
    await http.close()
  }
}

/** What a reply to an empty batch tells of address and key. Pure. */
export function toReplyChecks(reply: HttpReply, mask?: (text: string) => string): Check[] {
  const { status } = reply
  const reason = describeReply(reply, mask)
  const address: Check = { name: 'address', ok: true, detail: `a service answers (status ${status})` }
  const kind = classifyReply(reply, 'ingest-result')
  switch (kind) {
    case 'ok': {
      const key = {
        name: 'key',
        ok: true,
        detail: `accepted (status ${status}); an empty batch was sent, nothing is stored`,
      }
      if (parseIngestResult(reply.text) !== undefined) return [address, key]
      return [{ ...address, fix: "its reply is no ingest result: make sure that url is the log service's" }, key]
    }
    case 'refused':
      return [
        address,
        {
          name: 'key',
          ok: true,
          detail: `accepted; the empty batch was refused as empty (${reason}), nothing is stored`,
        },
      ]
    case 'later':
      if (status === 429) {
        return [
          address,
          {
            name: 'key',
            ok: true,
            detail: `not refused, but the service limits the rate (${reason})`,
            fix: 'nothing to mend: the transport waits',
          },
        ]
      }
      return [
        address,
        {
          name: 'key',
          ok: false,
          detail: `cannot be checked: the service does not work at the moment (${reason})`,
          fix: 'ask again when it does; until then the transport keeps entries and sends them later',
        },
      ]
    case 'misconfigured':
      if (status === 401 || status === 403) {
        return [
          address,
          {
            name: 'key',
            ok: false,
            detail: `refused (${reason})`,
            fix: 'set PINO_INGEST_API_KEY, or the file that PINO_INGEST_API_KEY_FILE names, to a valid key',
          },
        ]
      }
      return [{ name: 'address', ok: false, ...describeMisdirection(reply, reason) }]
  }
}

function describeMisdirection({ status, headers }: HttpReply, reason: string): Pick<Check, 'detail' | 'fix'> {
  if (status < 300 || status > 399)
    return { detail: `not the service's (${reason})`, fix: 'check host and path; the path must end with /api/v1' }
  const location = [headers['location']].flat()[0] ?? ''
  // Without its query, which may hold anything.
  const to = URL.canParse(location) ? ` to ${new URL(location).origin}${new URL(location).pathname}` : ''
  return {
    detail: `redirects${to} (status ${status}); not followed, since that would carry the key elsewhere`,
    fix: 'if you trust it, set url to where it leads',
  }
}

function checkClock({ headers }: HttpReply, nowMs: number): Check[] {
  const serviceMs = Date.parse([headers['date']].flat()[0] ?? '')
  if (Number.isNaN(serviceMs)) return []
  const skewMs = nowMs - serviceMs
  const detail = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs < 0 ? 'behind' : 'ahead of'} the service's`
  const fix =
    Math.abs(skewMs) > MAX_SKEW_MS ? { fix: "set this machine's clock (NTP): timestamps are off by as much" } : {}
  return [{ name: 'clock', ok: true, detail, ...fix }]
}
