/** pino's configuration, which pino sends once to the worker's port. */
import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { receivePinoConfig } from '../../src/transport/pino-config.js'

const CONFIG = { messageKey: 'text' }

test.each([1, 12])('%d transports receive it with one listener', async (transports) => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const receiving = Array.from({ length: transports }, () => receivePinoConfig(port2))
  expect(port2.listenerCount('message')).toBe(1)
  port1.postMessage({ code: 'PINO_CONFIG', config: CONFIG })
  expect(await Promise.all(receiving)).toEqual(receiving.map(() => CONFIG))
  expect(port2.listenerCount('message')).toBe(0)
})

test('a transport that starts after it was received has it, too', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const first = receivePinoConfig(port2)
  port1.postMessage({ code: 'PINO_CONFIG', config: CONFIG })
  await first
  expect(await receivePinoConfig(port2)).toEqual(CONFIG)
})

test('without it, the transports start with defaults', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  expect(await Promise.all([receivePinoConfig(port2), receivePinoConfig(port2)])).toEqual([undefined, undefined])
})
