/**
 * An application that logs through the worker transport, as in the README. It executes commands from its parent, and replies to each
 * with the result. When the parent disconnects, it delivers the remaining entries and exits.
 */
import pino from 'pino'
import { addBreadcrumb, captureError, ingestOptions, registerRelease, sendFeedback, withScope } from 'pino-ingest'

const logger = pino(
  ingestOptions({
    level: 'debug',
    sendLevel: 'debug',
    service: 'checkout',
    environment: 'test',
    version: '1.4.0',
  }),
)

const CALLS = {
  log: ({ text }) => logger.info({ orderId: 1017 }, text),
  release: ({ version }) => registerRelease({ version, logger }),
  /** @returns the event's id */
  fail: ({ text }) =>
    withScope({ request_id: 'r-1017', user: { id: 'u-42', email: 'ada@example.com' }, tags: ['vip'] }, () => {
      logger.info('payment started')
      addBreadcrumb({ category: 'cart', message: 'voucher applied', data: { voucher: 'SPRING' } })
      return captureError(logger, new Error(text, { cause: new RangeError('limit reached') }))
    }),
  feedback: ({ eventId, comments }) => sendFeedback({ event_id: eventId, comments, name: 'Ada' }),
}

process.on('message', async ({ call, ...parameters }) => {
  process.send({ result: await CALLS[call](parameters) })
})
