/**
 * One logger for the server. It is in-process, since a bundled application has no file for pino's worker to load. Bundlers can copy this
 * module into several routes, so the logger is shared through `globalThis`.
 */
import pino from 'pino'
import type { Logger } from 'pino'
import { ingestStream } from 'pino-ingest'

const shared = globalThis as { ordersLogger?: Logger }

export const logger = (shared.ordersLogger ??= pino(
  { level: process.env['LOG_LEVEL'] ?? 'info' },
  ingestStream({ service: 'orders' }),
))
