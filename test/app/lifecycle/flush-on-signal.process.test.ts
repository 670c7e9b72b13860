/** When the process ends after a signal, and which listener ends it. Real processes and real signals. */
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

/** What the application reports. */
const REPORTED = ['flushing', 'app', 'pong', 'cleaned']

interface Ended {
  /** The exit code, or the signal that ended the application. */
  readonly by: number | NodeJS.Signals
  readonly words: readonly string[]
}

/**
 * Starts `signalled.mjs`, and does the steps one after the other.
 * @param steps signals to send; words of `REPORTED` to wait for, each once more than before; other words to send
 */
async function run(plan: Plan, steps: string): Promise<Ended> {
  const child = fork(fileURLToPath(new URL('signalled.mjs', import.meta.url)), {
    env: cleanEnv({ PLAN: JSON.stringify(plan) }),
    execArgv: [],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const words: string[] = []
  child.on('message', (word) => words.push(String(word)))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as Ended['by'])
  const heard = new Map<string, number>()
  const hear = async (word: string): Promise<void> => {
    const times = (heard.get(word) ?? 0) + 1
    heard.set(word, times)
    while (words.filter((one) => one === word).length < times) {
      const how = await Promise.race([ended, once(child, 'message').then(() => undefined)])
      if (how !== undefined) throw new Error(`the app ended by ${how} without ${word}, having reported ${words.join()}`)
    }
  }
  await hear('ready')
  for (const step of steps.split(' ')) {
    if (step.startsWith('SIG')) child.kill(step as NodeJS.Signals)
    else if (REPORTED.includes(step)) await hear(step)
    else child.send(step)
  }
  return { by: await ended, words }
}

describe('the app handles the signal', () => {
  test.each<[string, Plan, steps: string, by: number]>([
    ['once() decides when to exit', { before: 'once' }, 'SIGTERM flushing app flushed ping pong end', 7],
    ['on() after it, too', { after: 'on' }, 'SIGTERM flushing app flushed ping pong end', 7],
    [
      'once() beside signal-exit, too',
      { before: 'once', after: 'signal-exit' },
      'SIGTERM flushing app flushed ping pong end',
      7,
    ],
    [
      'once(): a second signal flushes and ends the process',
      { before: 'once' },
      'SIGTERM flushing app flushed ping pong SIGINT flushing flushed',
      130,
    ],
    [
      'once(): a third signal does not wait for the flush',
      { before: 'once' },
      'SIGTERM flushing app flushed ping pong SIGTERM flushing SIGTERM',
      143,
    ],
    [
      'on(): each signal flushes, and none ends the process',
      { before: 'on' },
      'SIGTERM flushing flushed ping pong SIGTERM flushing flushed ping pong end',
      7,
    ],
    [
      'exit true: the process ends after the flush despite other listeners',
      { before: 'on', options: { exit: true } },
      'SIGTERM flushing ping pong flushed',
      143,
    ],
    [
      'exit false: a signal that is sent again flushes what is new, also during a flush',
      { before: 'raises', options: { exit: false } },
      'SIGTERM flushing close flushing end',
      7,
    ],
  ])('%s', async (_, plan, steps, by) => {
    expect((await run(plan, steps)).by).toBe(by)
  })

  test.each<Plan>([{ before: 'raises' }, { after: 'raises' }, { before: 'raises', calls: 2 }])(
    '%j: it closes the app, removes itself and sends the signal again; what it logged is flushed before the exit',
    async (plan) => {
      const flushing = plan.calls === 2 ? 'flushing flushing' : 'flushing'
      for (const first of ['flushed close', 'close'])
        expect((await run(plan, `SIGTERM ${flushing} ${first} ${flushing} ping pong flushed`)).by).toBe(143)
    },
  )
})

describe('there is no other handler for the signal', () => {
  test.each<[string, Plan, steps: string, by: number | string]>([
    ['SIGTERM: the process ends after the flush', {}, 'SIGTERM flushing ping pong flushed', 143],
    ['SIGINT, too', {}, 'SIGINT flushing ping pong flushed', 130],
    ['a second signal does not wait for the flush', {}, 'SIGTERM flushing SIGINT', 130],
    ['several calls: after the last flush', { calls: 2 }, 'SIGTERM flushing flushing flushed', 143],
    [
      'exit false: each signal flushes, and the process continues',
      { options: { exit: false, signals: ['SIGUSR2'] } },
      'SIGUSR2 flushing flushed ping pong SIGUSR2 flushing flushed ping pong end',
      7,
    ],
  ])('%s', async (_, plan, steps, by) => {
    expect((await run(plan, steps)).by).toBe(by)
  })

  test.each<Plan>([{ before: 'signal-exit' }, { after: 'signal-exit' }])(
    '%j: the process ends after the flush, and signal-exit cleans up',
    async (plan) => {
      const { by, words } = await run(plan, 'SIGTERM flushing flushed')
      expect(by).toBe(143)
      expect(words).toContain('cleaned')
    },
  )

  test('after it is undone, the signal has its default effect', async () => {
    const { by, words } = await run({ calls: 2, undo: true }, 'SIGTERM')
    expect(by).toBe('SIGTERM')
    expect(words).not.toContain('flushing')
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
