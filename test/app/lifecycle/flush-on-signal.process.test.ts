/**
 * When the process ends after a signal, and which listener ends it. Real processes and real signals; each message
 * waits for the one before.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { flushOnSignal } from '../../../src/index.js'
import type { FlushOnSignalOptions } from '../../../src/index.js'
import { cleanEnv } from '../../process/run-app.js'

type Who = 'once' | 'on' | 'signal-exit' | 'raises'

interface Plan {
  readonly before?: Who
  readonly after?: Who
  readonly calls?: number
  readonly options?: FlushOnSignalOptions
  readonly undo?: boolean
}

interface App {
  readonly signal: (signal: NodeJS.Signals) => void
  readonly say: (word: 'flushed' | 'ping' | 'close' | 'end') => void
  /** Resolves once the word was received `times` times; rejects if the app ends before. */
  readonly heard: (word: string, times?: number) => Promise<void>
  readonly words: readonly string[]
  /** The exit code, or the signal that ended the app. */
  readonly ended: Promise<number | NodeJS.Signals>
}

async function start(plan: Plan): Promise<App> {
  const child = fork(fileURLToPath(new URL('signalled.mjs', import.meta.url)), {
    env: cleanEnv({ PLAN: JSON.stringify(plan) }),
    execArgv: [],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const words: string[] = []
  child.on('message', (word) => words.push(String(word)))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  const heard = async (word: string, times = 1): Promise<void> => {
    while (words.filter((one) => one === word).length < times) {
      const how = await Promise.race([ended, once(child, 'message').then(() => undefined)])
      if (how !== undefined)
        throw new Error(`the app ended by ${how} without ${word}, having reported ${words.join(', ')}`)
    }
  }
  await heard('ready')
  return { signal: (signal) => void child.kill(signal), say: (word) => void child.send(word), heard, words, ended }
}

describe('the app handles the signal', () => {
  test.each([
    { before: 'once' },
    { before: 'on' },
    { after: 'once' },
    { after: 'on' },
    { before: 'once', after: 'signal-exit' },
  ] as const)('%j: its handler decides when to exit', async (plan) => {
    const app = await start(plan)
    app.signal('SIGTERM')
    await app.heard('flushing')
    await app.heard('app')
    app.say('flushed')
    app.say('ping')
    await app.heard('pong')
    app.say('end')
    expect(await app.ended).toBe(7)
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'with a once() handler of the app, %s as second signal flushes, ends the process, and the third does not wait',
    async (second, code) => {
      for (const isThird of [false, true]) {
        const app = await start({ before: 'once' })
        app.signal('SIGTERM')
        await app.heard('app')
        app.say('flushed')
        app.say('ping')
        await app.heard('pong')
        app.signal(second)
        await app.heard('flushing', 2)
        if (isThird) app.signal(second)
        else app.say('flushed')
        expect(await app.ended).toBe(code)
      }
    },
  )

  describe.each([{ before: 'raises' }, { after: 'raises' }, { before: 'raises', calls: 2 }] as const)(
    '%j: a handler closes the app, removes itself and sends the signal again',
    (plan) => {
      const calls = 'calls' in plan ? plan.calls : 1

      test.each([true, false])('what it logged is flushed before the exit (first flush done: %s)', async (isDone) => {
        const app = await start(plan)
        app.signal('SIGTERM')
        await app.heard('flushing', calls)
        if (isDone) app.say('flushed')
        app.say('close')
        await app.heard('flushing', 2 * calls)
        app.say('ping')
        await app.heard('pong')
        app.say('flushed')
        expect(await app.ended).toBe(143)
      })
    },
  )

  test('exit false: a signal that is sent again flushes what is new, also during a flush', async () => {
    const app = await start({ before: 'raises', options: { exit: false } })
    app.signal('SIGTERM')
    await app.heard('flushing')
    app.say('close')
    await app.heard('flushing', 2)
    app.say('end')
    expect(await app.ended).toBe(7)
  })

  test('with an on() handler of the app, each signal flushes and none ends the process', async () => {
    const app = await start({ before: 'on' })
    for (const times of [1, 2]) {
      app.signal('SIGTERM')
      await app.heard('flushing', times)
      app.say('flushed')
      app.say('ping')
      await app.heard('pong', times)
    }
    app.say('end')
    expect(await app.ended).toBe(7)
  })

  test('exit true: the process ends after the flush despite other listeners', async () => {
    const app = await start({ before: 'on', options: { exit: true } })
    app.signal('SIGTERM')
    await app.heard('flushing')
    app.say('ping')
    await app.heard('pong')
    app.say('flushed')
    expect(await app.ended).toBe(143)
  })
})

describe('there is no other handler for the signal', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s: the process ends after the flush', async (signal, code) => {
    const app = await start({})
    app.signal(signal)
    await app.heard('flushing')
    app.say('ping')
    await app.heard('pong')
    app.say('flushed')
    expect(await app.ended).toBe(code)
  })

  test.each([{ before: 'signal-exit' }, { after: 'signal-exit' }] as const)(
    '%j: the process ends after the flush, and signal-exit cleans up',
    async (plan) => {
      const app = await start(plan)
      app.signal('SIGTERM')
      await app.heard('flushing')
      app.say('flushed')
      expect(await app.ended).toBe(143)
      expect(app.words).toContain('cleaned')
    },
  )

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'SIGTERM, then %s: the second signal ends the process without waiting for the flush',
    async (second, code) => {
      const app = await start({})
      app.signal('SIGTERM')
      await app.heard('flushing')
      app.signal(second)
      expect(await app.ended).toBe(code)
    },
  )

  test('several calls: the process ends after the last flush', async () => {
    const app = await start({ calls: 2 })
    app.signal('SIGTERM')
    await app.heard('flushing', 2)
    app.say('flushed')
    expect(await app.ended).toBe(143)
  })

  test('exit false: each signal flushes, and the process continues', async () => {
    const app = await start({ options: { exit: false, signals: ['SIGUSR2'] } })
    for (const times of [1, 2]) {
      app.signal('SIGUSR2')
      await app.heard('flushing', times)
      app.say('flushed')
      app.say('ping')
      await app.heard('pong', times)
    }
    app.say('end')
    expect(await app.ended).toBe(7)
  })

  test('after it is undone, the signal has its default effect', async () => {
    const app = await start({ calls: 2, undo: true })
    app.signal('SIGTERM')
    expect(await app.ended).toBe('SIGTERM')
    expect(app.words).not.toContain('flushing')
  })
})

test('any number of calls adds one listener for each signal, until the last is undone', () => {
  const count = (): number[] => ['SIGTERM', 'SIGINT', 'SIGUSR2'].map((signal) => process.listenerCount(signal))
  const before = count()
  const undos = Array.from({ length: 12 }, () => flushOnSignal())
  undos.push(flushOnSignal([], { signals: ['SIGUSR2', 'SIGTERM'] }))
  expect(count()).toEqual(before.map((one) => one + 1))
  for (const undo of undos.slice(1)) undo()
  expect(count()).toEqual([(before[0] as number) + 1, (before[1] as number) + 1, before[2]])
  undos[0]?.()
  expect(count()).toEqual(before)
})
