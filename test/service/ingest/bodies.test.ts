import { describe, expect, it } from 'vitest'
import { validateFeedback, validateRelease, validateRequestLogs } from '../../../src/service/ingest/validate.js'
import { call, entryOf, ingest, requestLog, started } from '../support.js'

describe('the other bodies', () => {
  it.each(Object.keys(requestLog))('a request log without %s', (name) => {
    const { [name as 'method']: _gone, ...rest } = requestLog
    const problems = validateRequestLogs({ requests: [requestLog, rest] })
    expect(problems).toEqual([expect.objectContaining({ loc: ['requests', 1, name], type: 'value_error.missing' })])
  })

  it('accept their optional fields and no others', () => {
    expect(
      validateRequestLogs({ requests: [{ ...requestLog, route: '/:id', host: 'h', service: 's', environment: 'e' }] }),
    ).toEqual([])
    expect(validateRequestLogs({ requests: [{ ...requestLog, ip: 'x' }] })).toHaveLength(1)
    expect(validateRequestLogs({ requests: [{ ...requestLog, status_code: 200.5 }] })).toHaveLength(1)
    expect(validateFeedback({ event_id: 'e', comments: 'c', name: 'n', email: 'm' })).toEqual([])
    expect(validateFeedback({ name: 'n' }).map(({ loc }) => loc[0])).toEqual(['event_id', 'comments'])
    expect(validateFeedback({ event_id: 1, comments: 'c' })).toHaveLength(1)
    expect(validateRelease({ version: '1', commit_hash: 'c', branch: 'b', deployed_by: 'd', changelog: 'l' })).toEqual(
      [],
    )
    expect(validateRelease({}).map(({ type }) => type)).toEqual(['value_error.missing'])
    expect(validateRelease({ version: '1', commit: 'c' })).toHaveLength(1)
  })
})

describe('the two forms of 422', () => {
  it('an invalid value returns the ingest result', async () => {
    const service = await started()
    const { status, json } = await ingest(service, [entryOf(), { ...entryOf(), level: 'loud' }, entryOf()])
    expect(status).toBe(422)
    expect(json).toMatchObject({ accepted: 2, rejected: 1, message: expect.any(String) })
    expect(json.errors).toEqual([
      { index: 1, code: 'VALIDATION_ERROR', field: 'level', message: expect.stringContaining('debug') },
    ])
    expect(service.counts().total).toBe(2)
  })

  it('a schema problem returns the framework format and stores nothing', async () => {
    const service = await started()
    const { status, json } = await ingest(service, [
      entryOf(),
      entryOf(),
      entryOf(),
      { message: 'x', timestamp: entryOf().timestamp },
    ])
    expect(status).toBe(422)
    expect(json).toEqual({
      detail: [{ loc: ['body', 'logs', 3, 'level'], msg: 'field required', type: 'value_error.missing' }],
    })
    expect(service.counts().total).toBe(0)
    expect(service.rejected().items).toMatchObject([
      { batch_id: 'batch-1', entries: 4, accepted: 0, reasons: [{ loc: ['logs', 3, 'level'] }] },
    ])
  })

  it.each([
    [
      'over 100 logs',
      { batch_id: 'b', logs: Array.from({ length: 101 }, () => entryOf()) },
      ['body', 'logs'],
      'value_error.list.max_items',
    ],
    ['logs not a list', { batch_id: 'b', logs: {} }, ['body', 'logs'], 'type_error.list'],
    ['no logs', { batch_id: 'b' }, ['body', 'logs'], 'value_error.missing'],
    ['batch_id not text', { batch_id: 1, logs: [] }, ['body', 'batch_id'], 'type_error.str'],
    ['an unknown field', { batch_id: 'b', logs: [], more: 1 }, ['body', 'more'], 'value_error.extra'],
    ['no object', [], ['body'], 'type_error.dict'],
  ])('%s', async (_name, body, loc, type) => {
    const service = await started()
    const { status, json } = await call(`${service.url}/ingest`, { body })
    expect(status).toBe(422)
    expect(json.detail).toEqual([{ loc, type, msg: expect.any(String) }])
  })
})
