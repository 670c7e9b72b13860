/** Records with their level under another key, in the whole pipeline. */
import { expect, test } from 'vitest'
import { piped } from './create-pipeline.js'

const lines = (count: number, members: object): string => `${JSON.stringify(members)}\n`.repeat(count)
const labelled = { lvl: 'error', time: 1_795_376_432_645, msg: 'm' }

test('reports 100 records with an unknown level once, with what to set', async () => {
  const { pipeline, reported, arrived } = await piped()
  pipeline.records.write(lines(250, labelled) + lines(50, { lvl: 'warn', msg: 'm' }))
  const entries = await arrived()
  expect(new Set(entries.map(({ level }) => level))).toEqual(new Set(['info']))
  const problems = reported.filter(({ name }) => name === 'ingest:problem')
  expect(problems).toEqual([
    {
      name: 'ingest:problem',
      payload: { code: 'CONFIG', message: expect.stringContaining('customLevels') as string },
    },
  ])
})

test('sends errors of an ECS logger above the threshold with breadcrumbs, and its requests as request logs', async () => {
  const { pipeline, service, arrived } = await piped({ sendLevel: 'warn', requestLogs: true })
  const ecs = { '@timestamp': '2026-11-22T19:40:32.173Z', 'ecs.version': '8.10.0', 'trace.id': 't-1' }
  pipeline.records.write(
    lines(1, { 'log.level': 'info', ...ecs, message: 'before' }) +
      lines(1, {
        'log.level': 'info',
        ...ecs,
        http: { request: { method: 'GET', id: '7' }, response: { status_code: 200 } },
        url: { path: '/orders/7' },
        'event.duration': 1_500_000,
        message: 'handled',
      }) +
      lines(1, {
        'log.level': 'error',
        ...ecs,
        error: { type: 'E', message: 'e', stack_trace: 's' },
        message: 'failed',
      }),
  )
  expect(await arrived()).toMatchObject([
    {
      level: 'error',
      message: 'failed',
      error: { type: 'E', message: 'e', stack: 's' },
      trace: { trace_id: 't-1' },
      breadcrumbs: [
        { level: 'info', message: 'before', timestamp: '2026-11-22T19:40:32.173Z' },
        { type: 'http', message: 'handled', data: { method: 'GET', status_code: 200, duration_ms: 1.5 } },
      ],
    },
  ])
  expect(service.requestLogs().items.map(({ request }) => request)).toMatchObject([
    { method: 'GET', path: '/orders/7', status_code: 200, duration_ms: 1.5 },
  ])
})
