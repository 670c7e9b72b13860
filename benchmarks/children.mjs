/** Processes of this folder, each of which says one thing when it is ready or done. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A configured shop's variables must not reach what is measured. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_')))

/** @param {URL} module @param {string[]} [args] */
export function start(module, args = []) {
  const child = fork(fileURLToPath(module), args, { env })
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${module.pathname.split('/').at(-1)} ended early: ${code ?? signal}`)
  })
  died.catch(() => {})
  return { child, message: Promise.race([once(child, 'message').then(([message]) => message), died]) }
}

/**
 * @template T
 * @param {(url: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withSink(use) {
  const { child, message } = start(new URL('./sink.mjs', import.meta.url))
  try {
    return await use((await message).url)
  } finally {
    child.kill()
  }
}
