/** The call of a heartbeat (interface: POST /heartbeat/{monitor_token}). */
import { MONITOR_NAME_HEADER, PATHS } from '../protocol/limits.js'
import { containsSecret } from '../shared/contained-secret.js'
import { IngestError } from '../shared/errors.js'
import type { Call } from './retrying-caller.js'
import { validateMonitorToken } from './request-validation.js'

const MAX_NAME_CHARS = 100

/** A name for people, beside the token of a monitor. */
export interface MonitorName {
  /**
   * Name of the monitor, 1 to 100 characters, sent in the header `X-Monitor-Name`. The local service shows it; the interface has no
   * name, so another service ignores it. Must not contain the token, also percent-encoded. Default none.
   */
  name?: string | undefined
}

/**
 * The token is percent-encoded as one path segment. The reply may be anything, since the interface does not show it.
 * @throws IngestError `INVALID` for a token that is not a valid path segment, or an invalid name
 */
export function createHeartbeatCall(token: unknown, { name }: MonitorName = {}): Call {
  const raw = validateMonitorToken(token)
  const segment = encodeSegment(raw)
  return {
    path: PATHS.heartbeat + segment,
    body: null,
    expected: 'text',
    secrets: [raw, segment],
    ...(name !== undefined && {
      headers: { [MONITOR_NAME_HEADER.toLowerCase()]: encodeURIComponent(validateName(name, raw)) },
    }),
  }
}

/** The name is not shown in errors, because it could be a token. */
function validateName(name: unknown, token: string): string {
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS || !name.isWellFormed())
    throw new IngestError(
      'INVALID',
      `the name of the monitor must be well-formed text of 1 to ${MAX_NAME_CHARS} characters, got ${typeof name === 'string' ? `text of ${name.length}` : typeof name}`,
    )
  if (containsSecret(name, token))
    throw new IngestError('INVALID', 'the name of the monitor contains its token, which is secret: choose another name')
  return name
}

/** RFC 3986, section 2.2: `!`, `'`, `(`, `)` and `*` are also reserved, but encodeURIComponent does not encode them. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
