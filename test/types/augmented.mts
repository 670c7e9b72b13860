/** Compiled, never run: the arguments of pino's log calls with the augmentation imported. */
import pino from 'pino'
import type {} from '../../src/augment.js'
import { addBreadcrumb } from '../../src/app/scope/scope-breadcrumbs.js'
import { captureError } from '../../src/app/errors/capture-error.js'
import { ingestMixin } from '../../src/app/logger/ingest-mixin.js'
import { ingestOptions } from '../../src/app/logger/ingest-options.js'
import { withScope } from '../../src/app/scope/scope.js'

const logger = pino(
  ingestOptions({
    level: 'debug',
    customLevels: { audit: 35 },
    mixin: () => ({ a: 1 }),
    transport: { target: 'pino-ingest', options: {} },
  }),
)
logger.audit(
  { event_id: 'e', route: '/orders/:id', breadcrumbs: [{ message: 'm' }], trace_id: 't', user_id: 7, anything: true },
  'x',
)
logger.info({ notify: true, notify_channels: ['ops'] })
// @ts-expect-error an id is text
logger.info({ event_id: 7 })
// @ts-expect-error a pattern is text
logger.info({ route: /a/ })
// @ts-expect-error breadcrumbs are a list
logger.info({ breadcrumbs: 'm' })

pino({ mixin: ingestMixin() })
pino({ mixin: ingestMixin((mergeObject, level, child) => ({ mergeObject, level, bound: child.bindings() })) })

const header: string | undefined = undefined
const answer: Promise<number> = withScope(
  { user: { id: 7, email: header }, requestId: 5, traceparent: header, fields: { tenant: 'acme' } },
  async () => 7,
)
// @ts-expect-error no such member
withScope({ userid: 5 }, () => answer)
addBreadcrumb({ message: 'm', timestamp: new Date(), data: { a: [1] } })
// @ts-expect-error data is an object
addBreadcrumb({ data: 'text' })
const id: string = captureError(logger, null, { msg: 'm', order: 7 })
captureError(logger.child({}), new Error('x'), { event_id: id })
// @ts-expect-error text is not a logger
captureError('logger', new Error('x'))
