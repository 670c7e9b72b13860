/**
 * A Cloud Run job. Each task is a process. It ends by itself, or receives a SIGTERM, followed by a SIGKILL after 10 s, when it
 * exceeds its time limit or is cancelled. In both cases all entries are delivered before it exits.
 *
 * Set PINO_INGEST_URL and PINO_INGEST_API_KEY for the job.
 * @see https://cloud.google.com/run/docs/container-contract#jobs-env-vars
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { flush, flushOnSignal, ingestStream } from 'pino-ingest'

const {
  CLOUD_RUN_JOB: job = 'invoices',
  CLOUD_RUN_EXECUTION: execution = 'local',
  CLOUD_RUN_TASK_INDEX: index = '0',
} = process.env
const {
  CLOUD_RUN_TASK_ATTEMPT: attempt = '0',
  CLOUD_RUN_TASK_COUNT: count = '1',
  INVOICES = '20',
  INVOICE_MS = '10',
} = process.env

// The disk is deleted with the container, so a spool is useful only on a volume: spool: { dir: '/mnt/…' }.
const logger = pino(
  ingestStream({
    service: job,
    spool: false,
    tags: [`task:${index}`],
    metadata: { execution, task: { index: Number(index), attempt: Number(attempt), count: Number(count) } },
  }),
)
// Flushes immediately on SIGTERM, since the work may not end within 10 s. It does not exit, because the job has its own listener.
flushOnSignal(logger, { timeoutMs: 5_000 })
let isCancelled = false
process.once('SIGTERM', () => {
  isCancelled = true
  process.exitCode = 128 + 15
})

// Tasks share the work by their index.
for (let invoice = Number(index); invoice < Number(INVOICES) && !isCancelled; invoice += Number(count)) {
  await sleep(Number(INVOICE_MS))
  logger.info({ invoice }, 'invoice sent')
}
logger.info(isCancelled ? 'cancelled' : 'all invoices sent')

const { state, account } = await flush(logger, { timeoutMs: 5_000 })
if (state !== 'acknowledged')
  console.error(`logs: ${state}, ${account?.pending ?? 'unknown'} entries are not delivered`)
