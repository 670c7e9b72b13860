/** Compiled, never run: arguments and results of the helpers. */
import { expectTypeOf } from 'expect-type'
import pino from 'pino'
import {
  IngestClient,
  IngestError,
  addBreadcrumb,
  captureError,
  captureUncaught,
  flush,
  flushOnSignal,
  httpBreadcrumbs,
  ingestMixin,
  ingestOptions,
  ingestStream,
  monitor,
  newEventId,
  registerRelease,
  sendFeedback,
  startHeartbeat,
  withScope,
} from 'pino-ingest'
import type { AccountSnapshot, FlushResult, IngestErrorCode, IngestLoggerOptions } from 'pino-ingest'

const env = process.env as Record<string, string | undefined>

export async function helpers(): Promise<void> {
  // pino's options, completed: custom levels are kept.
  const logger = pino(
    ingestOptions({
      level: 'debug',
      customLevels: { audit: 35 },
      mixin: () => ({ a: 1 }),
      transport: { target: 'pino-ingest', options: {} },
    }),
  )
  logger.audit('x')
  // @ts-expect-error there is no such level
  logger.notice('x')
  pino(ingestOptions({ transport: false }), ingestStream())
  pino(ingestOptions())
  // @ts-expect-error pino has no such option
  ingestOptions({ levl: 'debug' })
  pino(ingestOptions({ level: 'debug', service: 'checkout', apiKey: 'k', tags: ['eu'] }))
  // @ts-expect-error -- a list is expected
  ingestOptions({ tags: 'eu' })
  const loggerOptions: IngestLoggerOptions = { level: 'debug', transport: undefined }
  pino(ingestOptions(loggerOptions))
  pino({ mixin: ingestMixin() })
  pino({ mixin: ingestMixin((mergeObject, level, child) => ({ mergeObject, level, bound: child.bindings() })) })
  // Not augmented here: the names are the application's own.
  logger.info({ event_id: 7, route: /a/ })

  // flush
  const result = await flush(logger, { timeoutMs: 2000 })
  expectTypeOf(result).toEqualTypeOf<FlushResult>()
  expectTypeOf(result.state).toEqualTypeOf<'acknowledged' | 'spooled' | 'timeout'>()
  expectTypeOf(result.account).toEqualTypeOf<AccountSnapshot | undefined>()
  expectTypeOf(result.account?.dropped.spool).toEqualTypeOf<number | undefined>()
  await flush(logger.child({}))
  // @ts-expect-error milliseconds are a number
  await flush(logger, { timeoutMs: '2s' })
  const off = flushOnSignal([logger, pino()], { signals: ['SIGTERM'], timeoutMs: 1000, exit: false })
  expectTypeOf(off).toEqualTypeOf<() => void>()
  flushOnSignal(logger)
  // @ts-expect-error there is no such signal
  flushOnSignal(logger, { signals: ['SIGNONE'] })

  // Scopes: the result of `fn` is returned.
  expectTypeOf(withScope({ request_id: 5, user: { id: 'u', email: env['EMAIL'] } }, () => 7)).toEqualTypeOf<number>()
  expectTypeOf(withScope({ traceparent: env['TRACE'] }, async () => 'text')).toEqualTypeOf<Promise<string>>()
  // @ts-expect-error no such member
  withScope({ userid: 5 }, () => 7)
  addBreadcrumb({ category: 'cart', message: 'm', timestamp: new Date(), data: { a: [1] } })
  // @ts-expect-error data is an object
  addBreadcrumb({ data: 'text' })
  expectTypeOf(httpBreadcrumbs()).toEqualTypeOf<() => void>()
  expectTypeOf(captureError(logger, null, { msg: 'm', order: 7 })).toEqualTypeOf<string>()
  captureError({ error: (fields: object, message?: string) => void [fields, message] }, new Error('x'), {
    event_id: newEventId(),
  })
  // @ts-expect-error text is not a logger
  captureError('logger', new Error('x'))
  expectTypeOf(captureUncaught(logger, { exitCode: 2, timeoutMs: 500 })).toEqualTypeOf<() => void>()
  // @ts-expect-error -- not a logger
  captureUncaught(console)

  // Releases, feedback, monitors.
  expectTypeOf(registerRelease({ version: env['VERSION'], logger })).resolves.toEqualTypeOf<string>()
  // @ts-expect-error there is no such option
  await registerRelease({ versoin: '1' })
  expectTypeOf(
    sendFeedback({ event_id: 'e', comments: 'c' }, { signal: new AbortController().signal }),
  ).resolves.toEqualTypeOf<void>()
  // @ts-expect-error comments are required
  await sendFeedback({ event_id: 'e' })
  expectTypeOf(monitor('token', () => 7)).resolves.toEqualTypeOf<number>()
  expectTypeOf(monitor('token', async () => ({ rows: 3 }), { logger })).resolves.toEqualTypeOf<{ rows: number }>()
  const stop = startHeartbeat('token', { everyMs: 60_000, logger })
  expectTypeOf(stop).toEqualTypeOf<() => Promise<void>>()
  // @ts-expect-error everyMs is required
  startHeartbeat('token', {})

  // Errors: match on the code.
  try {
    void new IngestClient()
  } catch (error) {
    if (error instanceof IngestError && error.code === 'CONFIG')
      expectTypeOf(error.status).toEqualTypeOf<number | undefined>()
    // @ts-expect-error there is no such code
    if (error instanceof IngestError && error.code === 'CONFG') throw error
  }
  expectTypeOf<IngestError['code']>().toEqualTypeOf<IngestErrorCode>()
}
