/**
 * CPU time per thread, as the scheduler counts it (/proc/self/task/<tid>/schedstat, in ns): Node 20 cannot report it
 * for one thread, Linux can. The worker's thread is the one that appears while it starts. All threads other than this
 * and the main thread belong to V8 and libuv: concurrent garbage collection and compilation, shared by main thread
 * and worker.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** @typedef {{ main: number, worker: number, others: number }} ThreadTimes a sum for each kind of thread */

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
  if (fresh.length !== 1) throw new Error(`cannot showProgress which thread is the worker's: ${fresh.length} are new`)
  return { started, thread: /** @type {string} */ (fresh[0]) }
}

/** CPU time in ns since each thread started. @param {string} workerThread @returns {ThreadTimes} */
export function cpuNs(workerThread) {
  return sumOf(workerThread, (tid) => Number(readFileSync(`/proc/self/task/${tid}/schedstat`, 'utf8').split(' ')[0]))
}

/**
 * How often each thread went to sleep since it started, and so was woken up. @param {string} workerThread @returns
 * {ThreadTimes}
 */
export function wakeUps(workerThread) {
  return sumOf(workerThread, wakeUpsOf)
}

/** @param {string} tid @returns {number} */
export function wakeUpsOf(tid) {
  return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/self/task/${tid}/status`, 'utf8'))?.[1])
}

/** @param {string} workerThread @param {(tid: string) => number} of @returns {ThreadTimes} */
function sumOf(workerThread, of) {
  const sum = { main: 0, worker: 0, others: 0 }
  for (const tid of threads())
    sum[tid === String(process.pid) ? 'main' : tid === workerThread ? 'worker' : 'others'] += of(tid)
  return sum
}
