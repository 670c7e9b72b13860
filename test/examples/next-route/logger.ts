/**
 * One logger for the server. In the process: a bundled application has no file for pino's worker to load. Two copies of this file, as
 * a bundler makes them for two routes, share one.
 */
import pino from 'pino'
import type { Logger } from 'pino'
import { ingestStream } from 'pino-ingest'

const shared = globalThis as { ordersLogger?: Logger }

export const logger = (shared.ordersLogger ??= pino(
  { level: process.env['LOG_LEVEL'] ?? 'info' },
  ingestStream({ service: 'orders' }),
))
