/** The endpoint that a path names (docs/protocol.md, Requests). */
import { BASE_PATH, PATHS } from '../protocol/limits.js'

export const ENDPOINTS = ['ingest', 'requests', 'feedback', 'releases', 'heartbeat'] as const

/** An endpoint of the service (docs/protocol.md, Requests). */
export type Endpoint = (typeof ENDPOINTS)[number]

export type EndpointTarget =
  | { readonly endpoint: Exclude<Endpoint, 'heartbeat'> }
  /** `token` identifies the monitor. */
  | { readonly endpoint: 'heartbeat'; readonly token: string }

const BY_PATH = new Map<string, EndpointTarget>([
  [BASE_PATH + PATHS.ingest, { endpoint: 'ingest' }],
  [BASE_PATH + PATHS.requests, { endpoint: 'requests' }],
  [BASE_PATH + PATHS.feedback, { endpoint: 'feedback' }],
  [BASE_PATH + PATHS.registerRelease, { endpoint: 'releases' }],
])

const HEARTBEAT_PREFIX = BASE_PATH + PATHS.heartbeat

/** @param path from the request line, without the query */
export function parseEndpointPath(path: string): EndpointTarget | undefined {
  const known = BY_PATH.get(path)
  if (known !== undefined) return known
  if (!path.startsWith(HEARTBEAT_PREFIX)) return undefined
  const token = decodeSegment(path.slice(HEARTBEAT_PREFIX.length))
  return token === undefined ? undefined : { endpoint: 'heartbeat', token }
}

function decodeSegment(segment: string): string | undefined {
  if (segment.includes('/')) return undefined
  try {
    const token = decodeURIComponent(segment)
    return token === '' || token === '.' || token === '..' ? undefined : token
  } catch {
    return undefined
  }
}
