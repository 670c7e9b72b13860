import { describe, expect, test } from 'vitest'
import { findStreamProblem } from '../../src/nats/stream-check.js'

describe('the stream', () => {
  const problemFor = (reply: object | Error): Promise<string | undefined> =>
    findStreamProblem(
      {
        request: (subject: string) =>
          subject === '$JS.API.STREAM.INFO.S' && !(reply instanceof Error)
            ? Promise.resolve({ json: () => reply } as never)
            : Promise.reject(reply as Error),
      },
      'S',
      's.logs',
    )

  test.each([
    [{ error: { code: 404, err_code: 10_059 } }, /S does not exist/],
    [{ error: { code: 503, err_code: 10_039 } }, /not enabled/],
    [{ config: { subjects: ['other.>'] } }, /S has no subject s\.logs/],
  ])('has a problem: %j', async (reply, problem) => {
    expect(await problemFor(reply)).toMatch(problem)
  })

  test.each([
    [{ config: { subjects: ['s.*'] } }],
    [{ error: { code: 503, err_code: 10_008 } }],
    [{ error: { code: 400, err_code: 10_003 } }],
    [new Error('no responders')],
  ])('has no known problem: %j', async (reply) => {
    expect(await problemFor(reply)).toBeUndefined()
  })
})
