/** Processes of this folder. Each sends a message when it is ready or done, and some answer what they are asked. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A configured shop's variables must not reach what is measured. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_')))

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/** @param {URL} module @param {readonly string[]} [args] @param {string[]} [execArgv] of Node; with these its output can be read */
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
  const next = () => Promise.race([once(child, 'message').then(([message]) => message), died])
  const first = next()
  first.catch(() => {}) // it may be stopped before anybody waits for it
  return {
    /** Its first message. */
    first,
    /** @param {string} question */
    ask: (question) => {
      const answer = next()
      child.send(question)
      return answer
    },
    /** What it has written to stdout. */
    output: () => output,
    stop: () => void child.kill(),
    /** At once, and gone when this is done. */
    kill: () => {
      child.kill('SIGKILL')
      return died.catch(() => {})
    },
  }
}

/** Ends what a question that has failed left behind: it would keep this process alive, and disturb the next. */
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
