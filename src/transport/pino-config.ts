/**
 * [worker] Receives pino's own configuration: levels, messageKey, errorKey.
 *
 * pino sends it once, and only the first listener of the worker's port receives it. pino-abstract-transport's
 * `expectPinoConfig` waits for it without a limit, so two such transports in `targets` never start. This transport
 * listens for a short time and passes the message on to transports that start listening later.
 */
import type { PinoConfig } from '../pipeline/mapping-options.js'
import type { MessagePort } from 'node:worker_threads'

/** Enough for a worker under load. The application's first lines wait at most this long. */
const LISTEN_MS = 100
/** Other transports in `targets` load at the same time; a slow one may take seconds until it listens. */
const PASS_ON_MS = 5_000

type Listener = (message: unknown) => void

/** By port: all of this package's transports in a worker wait for the same message. */
const received = new WeakMap<MessagePort, Promise<PinoConfig | undefined>>()

/** @returns undefined if it was not sent, or another transport received it */
export function receivePinoConfig(port: MessagePort): Promise<PinoConfig | undefined> {
  const receiving = received.get(port) ?? listen(port)
  received.set(port, receiving)
  return receiving
}

function listen(port: MessagePort): Promise<PinoConfig | undefined> {
  return new Promise((resolve) => {
    // One turn later, because a message that arrived while the worker was busy with lines is delivered after the
    // timers.
    const timer = setTimeout(() => setImmediate(() => settle(undefined)), LISTEN_MS)
    const onMessage: Listener = (message) => {
      if (!isPinoConfig(message)) return
      passOn(port, message)
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

/** A port does not emit an event for new listeners, so its methods that add listeners are wrapped temporarily. */
function passOn(port: MessagePort, message: { code: string }): void {
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
  }, PASS_ON_MS).unref()
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
