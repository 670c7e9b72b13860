/**
 * Compiled, never run, as a separate program: pino's log calls check the entry's fields once the augmentation is
 * imported.
 */
import { expectTypeOf } from 'expect-type'
import pino from 'pino'
import 'pino-ingest/augment'
import { ingestOptions } from 'pino-ingest'
import type { EntryTrace, LogEntry } from 'pino-ingest'
import type { IngestLogFields } from 'pino-ingest/augment'

const logger = pino(ingestOptions({ level: 'debug' }))
logger.info(
  {
    event_id: 'e',
    route: '/orders/:id',
    breadcrumbs: [{ message: 'm' }],
    trace_id: 't',
    user_id: 7,
    tags: ['a'],
    anything: true,
  },
  'x',
)
logger.error({ err: new Error('x'), notify: true, notify_channels: ['ops'], user: { id: 'u' } }, 'failed')
const fields: IngestLogFields = { fingerprint: 'f', session_id: 's' }
logger.child({ module: 'm' }).warn(fields, 'x')
// Values as applications have them: numbers as ids, lists that are constants, null and undefined for what is missing.
const session: { id?: string; user: { id: number; plan: string } | null } = { user: null }
logger.info({ user: session.user, user_id: session.user?.id ?? null, session_id: session.id, tags: ['a'] as const })
logger.info({ user: { id: 7, email: undefined, plan: 'pro' }, metadata: { at: new Date() } })
logger.info({ breadcrumbs: [{ message: 'm', timestamp: Date.now(), data: { at: new Date() } }] })
logger.info({ ...(session as object), anything: 1 })
// All fields of a record; pino adds the others.
expectTypeOf<keyof IngestLogFields>().toEqualTypeOf<
  | Exclude<
      keyof LogEntry,
      'level' | 'message' | 'timestamp' | 'error' | 'request' | 'service' | 'environment' | 'version'
    >
  | keyof EntryTrace
  | 'event_id'
  | 'route'
>()
