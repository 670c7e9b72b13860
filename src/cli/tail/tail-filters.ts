/** The flags of `tail`, parsed into parameters of the service's queries. Pure. */
import { LEVELS } from '../../protocol/log-entry.js'
import { createUsageError } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'

/** By flag. */
const PARAMETERS: Readonly<Record<string, string>> = {
  level: 'level',
  service: 'service',
  environment: 'environment',
  version: 'version',
  release: 'release_id',
  tag: 'tag',
  trace: 'trace_id',
  request: 'request_id',
  fingerprint: 'fingerprint',
  search: 'q',
}

export const FILTER_FLAGS: Flags = {
  level: { value: 'LEVELS', meaning: `only these, as error,fatal; of ${LEVELS.join(', ')}` },
  service: { value: 'NAME', meaning: 'of this service' },
  environment: { value: 'NAME', meaning: 'of this environment' },
  version: { value: 'VERSION', meaning: 'of this version of the application' },
  release: { value: 'ID', meaning: 'of this release_id' },
  tag: { value: 'TAG', meaning: 'with this tag' },
  trace: { value: 'ID', meaning: 'of this trace' },
  request: { value: 'ID', meaning: 'of this request' },
  fingerprint: { value: 'TEXT', meaning: 'of this error group' },
  search: { value: 'TEXT', meaning: 'with this text in message, error or metadata, in any case' },
}

/** @throws CommandError */
export function parseFilters({ texts }: Arguments): Readonly<Record<string, string>> {
  const levels = texts.get('level')
  const unknown = levels?.split(',').find((level) => !(LEVELS as readonly string[]).includes(level))
  if (unknown !== undefined)
    throw createUsageError(`--level must be of ${LEVELS.join(', ')}, several by comma, got ${JSON.stringify(unknown)}`)
  return Object.fromEntries(
    Object.entries(PARAMETERS).flatMap(([flag, name]) => {
      const value = texts.get(flag)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
export const DEFAULT_ORIGIN = 'http://127.0.0.1:4319'

/** Also accepts the URL for entries. @throws CommandError */
export function parseOrigin(text: string): string {
  if (/[#?&]token=/.test(text))
    throw createUsageError(
      '--url takes no token, since process lists show arguments; it is read from the file that pino-ingest dev keeps it in, or from PINO_INGEST_DEV_TOKEN',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Any other host would receive the token over the network; the service listens on loopback only.
  if (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname) && url.username === '' && url.password === '')
    return url.origin
  throw createUsageError(
    `--url must be the address of a local service, as ${DEFAULT_ORIGIN}, got ${JSON.stringify(text)}`,
  )
}
