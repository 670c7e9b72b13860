/**
 * [worker] pino's own configuration: levels, messageKey, errorKey.
 *
 * pino sends it once, and the first listener of the worker's port takes it. pino-abstract-transport's
 * `expectPinoConfig` waits for it without end, so two such transports in `targets` would never start. This one listens
 * for a moment, goes on without, and passes what it took to neighbours that begin to listen later.
 */
import type { PinoConfig } from '../pipeline/mapping-options.js'
import type { MessagePort } from 'node:worker_threads'

/** A worker that starts under load still gets it in time; an app's first lines wait no longer than this. */
const LISTEN_MS = 100
/** Neighbours in `targets` are loaded at the same time; a slow one may take seconds to begin. */
const HAND_ON_MS = 5_000

type Listener = (message: unknown) => void

/** `undefined` where it did not come, or was taken by a neighbour before. */
export function receivePinoConfig(port: MessagePort): Promise<PinoConfig | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(undefined), LISTEN_MS)
    const onMessage: Listener = (message) => {
      if (!isPinoConfig(message)) return
      handOn(port, message)
      settle(message.config)
    }
    const settle = (config: PinoConfig | undefined): void => {
      clearTimeout(timer)
      port.off('message', onMessage)
      resolve(config)
    }
    port.on('message', onMessage)
  })
}

/** A port tells nobody of new listeners, so its own way of adding them is watched for a while. */
function handOn(port: MessagePort, message: { code: string }): void {
  const methods = ['on', 'addListener', 'once'] as const
  for (const method of methods) {
    const add = port[method] as (event: string, listener: Listener) => MessagePort
    const watched = (event: string, listener: Listener): MessagePort => {
      if (event === 'message') queueMicrotask(() => listener.call(port, message))
      return add.call(port, event, listener)
    }
    Object.defineProperty(port, method, { value: watched, configurable: true, writable: true })
  }
  setTimeout(() => {
    for (const method of methods) delete (port as Partial<MessagePort>)[method]
  }, HAND_ON_MS).unref()
}

function isPinoConfig(message: unknown): message is { code: string; config: PinoConfig } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'code' in message &&
    message.code === 'PINO_CONFIG' &&
    'config' in message &&
    typeof message.config === 'object' &&
    message.config !== null
  )
}
