/** Runs applications that publish, and waits for their results. */
import { startApp } from '../process/run-app.js'
import type { AppPlan, AppResult, RunningApp } from '../process/run-app.js'
import type { Queue } from './queue.js'

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
