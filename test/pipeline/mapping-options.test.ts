/** Values of the options in every entry are sanitized like those of a line, by both paths of the mapper. */
import { describe, expect, test } from 'vitest'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { createMappingOptions } from '../../src/pipeline/mapping-options.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { Kernel } from '../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../src/record/mapped-record.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { resolve } from '../options/resolve.js'
import { piped } from './create-pipeline.js'

const record = new MappedRecord()

const CANARY = 'canary-7f3a'
const RECEIVED_AT = '2026-11-21T12:00:00.000Z'
const LINE = '{"level":30,"time":1795219732486,"pid":1,"msg":"usual"}'
/**
 * The kernel rejects this line. The header that is removed from it makes the reference path check the whole entry.
 */
const HEADER_LINE = '{"level":30,"time":1795219732486,"pid":1,"x-api-key":"x","msg":"usual"}'

const SECRETIVE: Partial<IngestOptions> = {
  service: `https://app:${CANARY}@git.example.com/app`,
  environment: `stage?token=${CANARY}`,
  version: `1.2.3?access_token=${CANARY}`,
  releaseId: `https://h/?secret=${CANARY}`,
  metadata: {
    db: `postgres://app:${CANARY}@db/x?password=${CANARY}`,
    upstream: {
      headers: { accept: '*/*', 'x-goog-api-key': `Bearer ${CANARY}` },
      raw: ['Set-Cookie', CANARY, 'Accept', 'x'],
      'x-api-key': CANARY,
    },
    sent: `GET / HTTP/1.1\r\nCookie: ${CANARY}\r\n`,
    query: { token: CANARY, page: 2 },
    auth: { username: 'bob', password: CANARY },
  },
  tags: [`https://h/?token=${CANARY}`, `Authorization: Bearer ${CANARY}`, 'eu'],
  deploy: {
    commit: 'abc',
    branch: `https://app:${CANARY}@git.example.com/x`,
    deployed_by: `https://ci/?token=${CANARY}`,
  },
}

function mappingOf(options: Partial<IngestOptions>): MappingOptions {
  return createMappingOptions(resolve(options), undefined)
}

/** The entry of a typical line, which must be equal on both paths. */
function entryOf(options: MappingOptions): LogEntry {
  const path = Kernel.create(options) as Kernel
  expect(path.map(path.lines.place(LINE), record)).toBe(true)
  const entry = JSON.parse(record.json) as LogEntry
  expect(entry).toEqual(JSON.parse(mapByParsing(LINE, options, RECEIVED_AT).json))
  const { metadata: { pino_ingest: _, ...metadata } = {}, ...others } = JSON.parse(
    mapByParsing(HEADER_LINE, options, RECEIVED_AT).json,
  ) as LogEntry
  expect({ ...others, metadata }).toEqual(entry)
  return entry
}

describe('secrets in the options', () => {
  test('are removed, and nothing else', () => {
    expect(entryOf(mappingOf(SECRETIVE))).toEqual({
      level: 'info',
      message: 'usual',
      timestamp: '2026-11-21T00:08:52.486Z',
      service: 'https://[scrubbed]@git.example.com/app',
      environment: 'stage?token=[scrubbed]',
      version: '1.2.3?access_token=[scrubbed]',
      release_id: 'https://h/?secret=[scrubbed]',
      metadata: {
        pid: 1,
        db: 'postgres://[scrubbed]@db/x?password=[scrubbed]',
        upstream: { headers: { accept: '*/*' }, raw: ['Set-Cookie', '[removed]', 'Accept', 'x'] },
        sent: 'GET / HTTP/1.1\r\nCookie: [removed]\r\n',
        query: { token: '[scrubbed]', page: 2 },
        auth: { username: 'bob' },
      },
      tags: ['https://h/?token=[scrubbed]', 'Authorization: [removed]', 'eu'],
      deploy: {
        commit: 'abc',
        branch: 'https://[scrubbed]@git.example.com/x',
        deployed_by: 'https://ci/?token=[scrubbed]',
      },
    })
  })

  test('never arrive', async () => {
    const { write, arrived } = await piped(SECRETIVE)
    write(
      { msg: 'usual' },
      { user: { id: 1 }, msg: 'by the reference path' },
      { authorization: CANARY, msg: 'with a header in the line' },
      { level: 50, err: { type: 'E', message: 'm' }, msg: 'an error' },
    )
    const entries = await arrived()
    expect(entries.map(({ message }) => message)).toEqual([
      'usual',
      'by the reference path',
      'with a header in the line',
      'an error',
    ])
    expect(JSON.stringify(entries)).not.toContain(CANARY)
  })

  test('that match a pattern are removed, too', () => {
    const options = mappingOf({
      scrub: { patterns: ['email', 'creditCard'] },
      deploy: { deployed_by: 'jane@example.com' },
      tags: ['joe@example.com'],
      metadata: { card: 4111111111111111, 'ann@example.com': 1 },
    })
    expect(entryOf(options)).toMatchObject({
      deploy: { deployed_by: '[email]' },
      tags: ['[email]'],
      metadata: { card: '[creditCard]', '[email]': 1 },
    })
  })
})

test('does not change the settings', () => {
  const settings = resolve(SECRETIVE)
  const before = JSON.stringify(settings)
  createMappingOptions(settings, undefined)
  expect(JSON.stringify(settings)).toBe(before)
})
