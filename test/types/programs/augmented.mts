/** Compiled, never run, as a program of its own: pino's log calls know the entry's fields once the typing is imported. */
import pino from 'pino'
import 'pino-ingest/augment'
import { ingestOptions } from 'pino-ingest'
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
// @ts-expect-error an id is text
logger.info({ event_id: 7 })
// @ts-expect-error a pattern is text
logger.info({ route: /a/ })
// @ts-expect-error tags are a list
logger.info({ tags: 'a' })
// @ts-expect-error breadcrumbs are a list
logger.info({ breadcrumbs: 'm' })
