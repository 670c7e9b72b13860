/** Limits and paths of the service's interface. What it marks "not shown" is decided elsewhere, never here. */

/** Entries in one `POST /ingest` (interface: Limits). */
export const MAX_LOGS_PER_REQUEST = 100

/** `{base_url}` ends with this prefix (interface: introduction, Versioning). */
export const BASE_PATH = '/api/v1'

/** Header that carries the API key on every endpoint but the heartbeat (interface: Authentication 1). */
export const API_KEY_HEADER = 'X-API-Key'

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
