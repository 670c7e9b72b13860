/** Applications that publish, and the facts that tests wait for. */
import { startApp } from '../process/run-app.js'
import type { AppPlan, AppResult, RunningApp } from '../process/run-app.js'
import type { Queue } from './queue.js'

/** Ends an application that holds. */
export function endApp({ child, done }: RunningApp): Promise<AppResult> {
  child.kill('SIGTERM')
  return done
}

/**
 * An application that logs, and ends when the queue has as much as `count`: its own entries and those on disk. One with a short life may
 * end before it has sent what others left.
 *
 * @returns the numbers in the queue
 */
export async function publishedBy(plan: AppPlan, queue: Queue, count: number): Promise<number[]> {
  const app = startApp({ ...plan, end: 'hold' })
  const numbers = await queue.numbers(count)
  await endApp(app)
  return numbers
}
