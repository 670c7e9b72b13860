import pino from 'pino'
import ingest, { ingestStream } from 'pino-ingest'
import type { IngestOptions } from 'pino-ingest'
import { IngestClient } from 'pino-ingest/client'
import { createIngestService } from 'pino-ingest/service'
import 'pino-ingest/augment'

const options: IngestOptions = { service: 'typescript', tags: ['typed'] }
// Exported, and so kept: pino ends the worker of a logger that was garbage-collected, with whatever is in it.
export const logger = pino({ transport: { target: 'pino-ingest', options } })
for (let n = 0; n < 50; n += 1) logger.info({ n, user: { id: 'u-1' } }, 'from TypeScript, by the worker')
// @ts-expect-error: the augmented log call knows that a user's id is text
logger.debug({ user: { id: 1 } })

const direct = pino(ingestStream(options))
for (let n = 50; n < 100; n += 1) direct.info({ n }, 'from TypeScript, in the process')

const doors: readonly unknown[] = [ingest, IngestClient, createIngestService]
if (doors.some((door) => typeof door !== 'function')) throw new Error('a door does not open')
