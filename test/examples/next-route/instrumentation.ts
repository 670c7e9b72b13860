/** Next calls `register` once when a server starts, and `onRequestError` for what no route has caught. */
export async function register(): Promise<void> {
  // Wrong options stop the start, and not the first request. The edge runtime has neither pino nor this.
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
