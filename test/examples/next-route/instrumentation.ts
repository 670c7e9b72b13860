/** Next calls `register` once at the start of a server, and `onRequestError` for errors that no route has caught. */
export async function register(): Promise<void> {
  // Loaded here, wrong options stop the start instead of the first request. The edge runtime supports neither pino nor this package.
  if (process.env['NEXT_RUNTIME'] === 'nodejs') await import('./logger')
}

interface FailedRequest {
  readonly path: string
  readonly method: string
}

export async function onRequestError(error: unknown, { path, method }: FailedRequest): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const { flush } = await import('pino-ingest')
  const { logger } = await import('./logger')
  logger.error({ err: error, req: { method, url: path } }, 'request failed')
  await flush(logger, { timeoutMs: 2_000 })
}
