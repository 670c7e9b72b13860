/** Child processes of this folder. Each sends a message when it is ready or done, and some reply to messages. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The variables of a configured shop must not affect the measurement. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_')))

/** A process that is silent for longer never answers: its question fails, and the next one begins. */
const SILENT_MS = 300_000

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/**
 * @param {URL} module @param {readonly string[]} [args] @param {string[]} [execArgv] of Node; with these its output
 *   is captured
 */
export function start(module, args = [], execArgv) {
  const child = fork(fileURLToPath(module), args, { env, ...(execArgv && { execArgv, silent: true }) })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr?.pipe(process.stderr)
  running.add(child)
  child.once('exit', () => running.delete(child))
  const name = [module.pathname.split('/').at(-1), ...args].join(' ')
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${name} ended early: ${code ?? signal}`)
  })
  died.catch(() => {})
  const next = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), SILENT_MS)
    return Promise.race([once(child, 'message').then(([message]) => message), died]).finally(() => clearTimeout(timer))
  }
  const first = next()
  first.catch(() => {}) // it may be stopped before its message is awaited
  return {
    /** The first message. */
    first,
    /** @param {string} question */
    ask: (question) => {
      const answer = next()
      child.send(question)
      return answer
    },
    /** Its output on stdout. */
    output: () => output,
    stop: () => void child.kill(),
    /** Kills it at once, and resolves when it has ended. */
    kill: () => {
      child.kill('SIGKILL')
      return died.catch(() => {})
    },
  }
}

/** Ends processes that a failed question left: they would keep this process alive and disturb the next question. */
export function stopAll() {
  for (const child of running) child.kill()
}

/**
 * @template T
 * @param {(url: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withSink(use) {
  const sink = start(new URL('./sink.mjs', import.meta.url))
  try {
    return await use((await sink.first).url)
  } finally {
    sink.stop()
  }
}
