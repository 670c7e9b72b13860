/** The app and the sink of this question, controlled from the main process. */
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'

/**
 * @typedef {{ url: string, ask: (words: string) => Promise<any> }} Sink
 * @typedef {{ atMs: number, entries: number, distinct: number }} SinkSample
 */

/**
 * One sink, and one folder for the spools of all processes that log to it: the next process sends the entries that
 * one has left.
 *
 * @template T
 * @param {(sink: Sink, dir: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withService(use) {
  const { dir, clean } = scratchFolder()
  const sink = start(new URL('./sink.mjs', import.meta.url))
  try {
    const { url } = await sink.first
    return await use({ url, ask: async (words) => (await sink.ask(words)).answer }, dir)
  } finally {
    sink.stop()
    clean()
  }
}

/** @param {Partial<import('./app.mjs').AppOptions> & Pick<import('./app.mjs').AppOptions, 'url' | 'dir' | 'way'>} options */
export function startApp(options) {
  const app = start(new URL('./app.mjs', import.meta.url), [
    JSON.stringify({ first: 0, records: 0, perSecond: 0, ...options }),
  ])
  return {
    /**
     * Resolves when it has logged everything, or when pacing starts. @type {Promise<{ startedMs: number, doneMs:
     * number }>}
     */
    first: app.first,
    /** @param {'logged' | 'samples' | 'stop' | 'end'} word @returns {Promise<any>} */
    ask: async (word) => (await app.ask(word)).answer,
    /** As with kill -9. */
    die: () =>
      app.ask('die').then(
        () => {
          throw new Error('the app survived its kill')
        },
        (/** @type {Error} */ ended) => {
          if (!ended.message.endsWith('SIGKILL')) throw ended
        },
      ),
    stop: app.stop,
  }
}
