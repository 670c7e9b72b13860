/** The call of a heartbeat (interface: POST /heartbeat/{monitor_token}). */
import { PATHS } from '../protocol/limits.js'
import type { Call } from './retrying-caller.js'
import { validateMonitorToken } from './request-validation.js'

/**
 * The token is percent-encoded as one path segment. The reply may be anything, since the interface does not show it.
 * @throws IngestError `INVALID` for a token that is not a valid path segment
 */
export function createHeartbeatCall(token: unknown, signal?: AbortSignal): Call {
  const raw = validateMonitorToken(token)
  const segment = encodeSegment(raw)
  return { path: PATHS.heartbeat + segment, body: null, expected: 'text', signal, secrets: [raw, segment] }
}

/** RFC 3986, section 2.2: `!`, `'`, `(`, `)` and `*` are also reserved, but encodeURIComponent does not encode them. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
