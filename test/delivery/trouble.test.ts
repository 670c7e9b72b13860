import { expect, test } from 'vitest'
import { troubleTeller } from '../../src/delivery/trouble.js'
import { DOWN, Told, UNAUTHORIZED, busyFor } from './scripted.js'
import type { Later, Misconfigured } from '../../src/sender.js'

const down = DOWN as Later
const busy = busyFor(3600) as Later
const unauthorized = UNAUTHORIZED as Misconfigured

test('a hiccup is not told, nor its end', () => {
  const told = new Told()
  const { onTrouble, onRecovery } = troubleTeller(told)
  onTrouble(down, 0, 200)
  onTrouble(down, 200, 400)
  onRecovery(600)
  expect([told.problems, told.notes]).toEqual([[], []])
})

test('an outage is told once it lasts, or is known to last, and its end too', () => {
  const told = new Told()
  const { onTrouble, onRecovery } = troubleTeller(told)
  onTrouble(down, 4000, 1500)
  expect(told.problems).toEqual([{ code: 'UNAVAILABLE', message: expect.stringContaining('503 down'), status: 503 }])
  onRecovery(6000)
  expect(told.notes).toEqual([expect.stringContaining('6.0 s')])
  onTrouble({ ...busy, status: 429 }, 0, 3_600_000)
  expect(told.problems[1]).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
})

test('a local service that is not this user\'s is told at once, and once', () => {
  const told = new Told()
  const { onTrouble } = troubleTeller(told)
  for (let times = 0; times < 3; times += 1) onTrouble({ kind: 'misconfigured', reason: 'not yours' }, 0, 300)
  expect(told.problems).toEqual([{ code: 'MISDIRECTED', message: expect.stringMatching(/local service.*not yours/) as string }])
})

test('a misconfiguration is told at once, once of a kind, and again after it was mended', () => {
  const told = new Told()
  const { onTrouble, onRecovery } = troubleTeller(told)
  const elsewhere: Misconfigured = { kind: 'misconfigured', status: 301, reason: '301 moved' }
  for (const trouble of [unauthorized, unauthorized, elsewhere, unauthorized, elsewhere]) onTrouble(trouble, 0, 60_000)
  expect(told.problems.map(({ code }) => code)).toEqual(['AUTH', 'MISDIRECTED'])
  expect(told.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/apiKey.*401 invalid key/),
    expect.stringMatching(/url.*301 moved/),
  ])
  onRecovery(1000)
  onTrouble(unauthorized, 0, 60_000)
  expect(told.problems).toHaveLength(3)
})
