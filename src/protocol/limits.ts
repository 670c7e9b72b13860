/** Limits and paths of the log service's interface. Values that the interface marks "not shown" are defined elsewhere. */

/** Entries in one `POST /ingest` (interface: Limits). */
export const MAX_LOGS_PER_REQUEST = 100

/** `{base_url}` ends with this prefix (interface: introduction, Versioning). */
export const BASE_PATH = '/api/v1'

/** Header with the API key, on every endpoint except the heartbeat (interface: Authentication 1). */
export const API_KEY_HEADER = 'X-API-Key'

/** Header with the name of a monitor, percent-encoded. The interface does not show it: a service that does not know it ignores it. */
export const MONITOR_NAME_HEADER = 'X-Monitor-Name'

/** Every body is JSON under this type (interface: introduction). */
export const CONTENT_TYPE = 'application/json'

/** Paths relative to `{base_url}` (interface: Endpoints). */
export const PATHS = {
  ingest: '/ingest',
  requests: '/ingest/requests',
  feedback: '/feedback',
  registerRelease: '/releases/register',
  heartbeat: '/heartbeat/',
} as const
