/** Applications that publish to a queue, each with its own spool, and their results. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { TestContext } from 'vitest'
import { startApp } from '../process/run-app.js'
import type { AppPlan, AppResult, RunningApp } from '../process/run-app.js'
import { Queue } from './queue.js'

export interface Publishing {
  readonly queue: Queue
  readonly spool: string
  readonly plan: (plan: Partial<AppPlan>, options?: Record<string, unknown>, nats?: object) => AppPlan
}

let number = 0

/** With a stream of its own, unless it is given. The spool is removed after the test. */
export function preparePublishing(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { urls }: { readonly urls: readonly string[] },
  {
    connection = {},
    stream = `QUEUE-${(number += 1)}`,
  }: { readonly connection?: ConnectionOptions; readonly stream?: string } = {},
): Publishing {
  const spool = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
  onTestFinished(() => rmSync(spool, { recursive: true, force: true, maxRetries: 5 }))
  return {
    queue: new Queue(urls, connection, { stream }),
    spool,
    plan: (plan, options = {}, nats = {}) => ({
      mode: 'target',
      count: 50,
      end: 'natural',
      ...plan,
      // The maximum, for slow machines.
      options: {
        nats: { servers: urls, stream, ...nats },
        spool: { dir: spool },
        shutdownTimeoutMs: 8_000,
        ...options,
      },
    }),
  }
}

/** Ends an application with `end: 'hold'`. */
export function endApp({ child, done }: RunningApp): Promise<AppResult> {
  child.kill('SIGTERM')
  return done
}

/**
 * Runs an application that logs, and ends it when the queue contains `count` entries: its own and those on disk. Otherwise it could end
 * before it has sent entries left by others.
 *
 * @returns the numbers of the entries in the queue
 */
export async function publishedBy(plan: AppPlan, queue: Queue, count: number): Promise<number[]> {
  const app = startApp({ ...plan, end: 'hold' })
  const numbers = await queue.numbers(count)
  await endApp(app)
  return numbers
}

/** Errors of the NATS client must not reach the application. */
export function errorsOf({ events }: AppResult): unknown[] {
  return events.filter(({ name }) => name === 'error' || name === 'blocked')
}

export function problemsOf({ events }: AppResult): { readonly code: string; readonly message: string }[] {
  return events.filter(({ name }) => name === 'ingest:problem').map(({ payload }) => payload as never)
}
