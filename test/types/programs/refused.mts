/** Compiled, never run: each line is wrong. The comment contains the compiler's message. */
import pino from 'pino'
import 'pino-ingest/augment'

const logger = pino()
const user = { id: new Date(), name: 'Jane' }
const headers: { id?: unknown } = {}

logger.info({ user: { id: {} } }, 'x') // user.id must be text or a number
logger.info({ user: { id: true } }, 'x') // user.id must be text or a number
logger.info({ user: { id: ['a'] } }, 'x') // user.id must be text or a number
logger.info({ user: { id: 7n } }, 'order %s', 'x') // user.id must be text or a number
logger.info({ user: { id: headers.id } }, 'x') // user.id must be text or a number
logger.info({ user }, 'x') // user.id must be text or a number
logger.child({ a: 1 }).error({ err: new Error('x'), user: { email: 7 } }, 'x') // user.email must be text
logger.info({ user: 'jane' }, 'x') // user must be an object
logger.info({ user: ['jane'] }, 'x') // user must be an object
logger.info({ user_id: {} }) // user_id must be text or a number
logger.info({ tags: 'a' }) // tags must be a list of texts
logger.info({ tags: [1] }) // tags must be a list of texts
logger.info({ notify: 'yes' }) // notify must be true or false
logger.info({ action: 7 }) // action must be text
logger.info({ event_id: 7 }) // event_id must be text
logger.info({ route: /a/ }) // route must be text
logger.info({ perf: { duration_ms: '5' } }) // perf.duration_ms must be a number
logger.info({ trace: 'abc' }) // trace must be an object
logger.info({ deploy: { commit: 7 } }) // deploy.commit must be text
logger.info({ metadata: 'text' }) // metadata must be an object
logger.info({ breadcrumbs: 'm' }) // breadcrumbs must be a list
logger.info({ breadcrumbs: [{ message: {} }] }) // breadcrumbs must be a list
