/** The ways to end a process that `exits.process.test.ts` leaves out. */
import { expect, test } from 'vitest'
import { COUNT, checkAllArrives, checkKept, checkLoggedAtExit, startExits } from './exits.js'
import { startApp } from './run-app.js'

test.for([
  ['target', 'exit'],
  ['targets-copy', 'natural'],
] as const)('service up, %s, %s: everything arrives', async ([mode, end], context) =>
  checkAllArrives(await startExits(context), mode, end),
)

test('service down, other modes: the next start sends everything', async (context) =>
  checkKept(await startExits(context), ['targets-copy', 'pipeline']))

test('in-process, in an outage, three streams: what a listener for `exit` logs is on disk', async (context) =>
  checkLoggedAtExit(await startExits(context), ['exit', 'reject', 'closed', 'destroyed'], 3))

test('SIGINT with flushOnSignal: everything arrives', async (context) => {
  const { plan, arrived } = await startExits(context)
  const app = startApp(plan({ end: 'signal', waitsForWorker: true }))
  await app.heard('holding')
  app.child.kill('SIGINT')
  expect((await app.done).code).toBe(130)
  expect(arrived()).toBe(COUNT)
})
