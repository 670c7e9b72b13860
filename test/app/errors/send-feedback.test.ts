/** `sendFeedback()` against the local service. */
import { expect, test, vi } from 'vitest'
import { sendFeedback } from '../../../src/app/errors/send-feedback.js'
import { failureOf } from '../../client/failure-of.js'
import { httpServer } from '../../client/http-servers.js'
import { started } from '../../service/support.js'
import { withCleanEnv } from '../../client/release/clean-env.js'

const KEY = 'feedback-key-4711'
const FEEDBACK = { event_id: 'ev-1', comments: 'It broke' }

withCleanEnv()

test('sends feedback with and without a name', async () => {
  const service = await started({ apiKeys: [KEY] })
  await sendFeedback(FEEDBACK, { url: service.url, apiKey: KEY })
  vi.stubEnv('PINO_INGEST_URL', service.url)
  vi.stubEnv('PINO_INGEST_API_KEY', KEY)
  await sendFeedback({ ...FEEDBACK, name: 'Jane', email: 'jane@example.com' })
  expect(service.feedback().items.toReversed()).toMatchObject([
    { feedback: FEEDBACK },
    { feedback: { ...FEEDBACK, name: 'Jane', email: 'jane@example.com' } },
  ])
})

test('INVALID names the field; CONFIG names the variable to set', async () => {
  const service = await started({ apiKeys: [KEY] })
  expect(
    await failureOf(sendFeedback({ event_id: 'e' } as never, { url: service.url, apiKey: KEY }), KEY),
  ).toMatchObject({ code: 'INVALID', message: expect.stringContaining('feedback.comments') })
  expect(await failureOf(sendFeedback(FEEDBACK), KEY)).toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining('PINO_INGEST_URL'),
  })
  expect(await failureOf(sendFeedback(FEEDBACK, { url: 'https://logs.invalid/api/v1' }), KEY)).toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining('PINO_INGEST_API_KEY'),
  })
  expect(service.requests).toEqual([])
})

test('fails for a login page, and at once for a Retry-After longer than timeoutMs', async () => {
  const page = await httpServer((response) => void response.end('<html>'))
  expect(await failureOf(sendFeedback(FEEDBACK, { url: `${page.origin}/api/v1`, apiKey: KEY }), KEY)).toMatchObject({
    code: 'MISDIRECTED',
    status: 200,
  })
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 429, retryAfter: 31 })
  expect(await failureOf(sendFeedback(FEEDBACK, { url: service.url, apiKey: KEY }), KEY)).toMatchObject({
    code: 'RATE_LIMITED',
    retryAfterMs: 31_000,
  })
})
