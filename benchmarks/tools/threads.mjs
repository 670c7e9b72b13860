/**
 * CPU time by thread, as the scheduler counts it (/proc/self/task/<tid>/schedstat, in ns): Node 20 cannot tell that of one
 * thread, Linux can. A worker's thread is the one that appears while it is started; what is neither this nor the main thread
 * is V8's and libuv's help, concurrent garbage collection and compilation, which main thread and worker share.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** @typedef {{ main: number, worker: number, others: number }} ThreadTimes */

export const canMeasureThreads = existsSync('/proc/self/task') && existsSync('/proc/self/schedstat')

/** @returns {string[]} ids of this process's threads */
export function threads() {
  return readdirSync('/proc/self/task')
}

/**
 * @template T
 * @param {() => T} startWorker @returns {{ started: T, thread: string }}
 */
export function threadOf(startWorker) {
  const before = threads()
  const started = startWorker()
  const fresh = threads().filter((tid) => !before.includes(tid))
  if (fresh.length !== 1) throw new Error(`cannot tell which thread is the worker's: ${fresh.length} are new`)
  return { started, thread: /** @type {string} */ (fresh[0]) }
}

/** ns on the CPU since each thread began. @param {string} workerThread @returns {ThreadTimes} */
export function cpuNs(workerThread) {
  const spent = { main: 0, worker: 0, others: 0 }
  for (const tid of threads()) {
    const ns = Number(readFileSync(`/proc/self/task/${tid}/schedstat`, 'utf8').split(' ')[0])
    spent[tid === String(process.pid) ? 'main' : tid === workerThread ? 'worker' : 'others'] += ns
  }
  return spent
}
