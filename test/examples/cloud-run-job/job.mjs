/**
 * A Cloud Run job. Each task is a process of its own, that ends by itself, or is told to by a SIGTERM, 10 s before a SIGKILL, when it
 * takes too long or is cancelled. In both cases what was logged goes first.
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

// In a container the disk goes with it: what is kept there helps nobody, unless it is a volume (then: spool: { dir: '/mnt/…' }).
const logger = pino(
  ingestStream({
    service: job,
    spool: false,
    tags: [`task:${index}`],
    metadata: { execution, task: { index: Number(index), attempt: Number(attempt), count: Number(count) } },
  }),
)
// At once, should the work not come to its end in these 10 s. Since the job listens, too, the exit is left to it.
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
