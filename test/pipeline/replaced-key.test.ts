/** A key that is read from its file while the pipeline runs. */
import { expect, test } from 'vitest'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { systemClock } from '../../src/shared/clock.js'
import { httpServer } from '../client/http-servers.js'
import { lineOf } from './create-pipeline.js'

test('it is sent, and masked in all events', async () => {
  const server = await httpServer((response, { headers }) => {
    response.writeHead(403).end(JSON.stringify({ message: `no entry for ${headers['x-api-key']}` }))
  })
  let inFile = 'former-key-4711'
  const settings = resolveOptions(
    { url: `${server.origin}/api/v1`, spool: false, logTo: 'silent', shutdownTimeoutMs: 2_000 },
    { env: { PINO_INGEST_API_KEY_FILE: '/run/key' }, readFile: () => inFile },
  )
  const events: unknown[] = []
  const pipeline = new Pipeline({ settings, clock: systemClock, emit: (...event) => void events.push(event) })
  inFile = 'present-key-0815'
  expect(settings.apiKey.reread()).toBe(true)
  pipeline.records.write(`${lineOf({ msg: 'a' })}\n`)
  pipeline.endInput()
  await pipeline.close()
  expect(server.came.map(({ headers }) => headers['x-api-key'])).toContain('present-key-0815')
  expect(JSON.stringify(events)).toContain('no entry for ***')
  expect(JSON.stringify(events)).not.toMatch(/present-key|former-key/)
})
