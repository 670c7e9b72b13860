/** `pino-ingest dev`: starts, shows, keeps, ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { liveLine } from '../../src/cli/live-line.js'
import { call, entryOf, until } from '../service/support.js'
import { runCli, startCli } from './run-cli.js'
import type { RunningCli } from './run-cli.js'

interface Started {
  readonly url: string
  readonly origin: string
  readonly port: number
  readonly arrived: number
  readonly queries: Readonly<Record<string, string>>
}

async function startJson(args: readonly string[] = []): Promise<{ running: RunningCli, told: Started }> {
  const running = startCli(['dev', '--port', '0', '--json', ...args])
  await until(() => running.said().includes('\n'))
  return { running, told: JSON.parse(running.said()) as Started }
}

async function startText(args: readonly string[] = []): Promise<{ running: RunningCli, url: string }> {
  const running = startCli(['dev', '--port', '0', ...args])
  await until(() => running.said().includes('Kept in'))
  return { running, url: /listens on (\S+) /.exec(running.said())?.[1] ?? '' }
}

function send(url: string, ...logs: readonly unknown[]): ReturnType<typeof call> {
  return call(`${url}/ingest`, { body: { batch_id: 'b', logs } })
}

describe('dev', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it with 0; with --json it prints one line', async (signal) => {
    const { running, told } = await startJson()
    expect(await send(told.url, entryOf())).toMatchObject({ status: 200 })
    for (const query of Object.values(told.queries)) {
      expect(await call(query, { method: 'GET' })).toMatchObject({ status: 200 })
    }
    running.child.kill(signal)
    const result = await running.done
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.toString().split('\n')).toHaveLength(2)
  })

  test('says where it listens and how an application connects, and shows each entry on a line', async () => {
    const { running, url } = await startText()
    expect(running.said()).toContain(`options: { url: '${url}', apiKey: 'any', service: 'checkout' }`)
    expect(running.said()).toContain(`${new URL(url).origin}/local/entries?level=error,fatal`)
    await send(url, entryOf({ message: 'forged\nline \u001b[2J', service: 'shop\u202e', level: 'warn' }), entryOf({ message: 'second' }))
    await until(() => running.said().includes('second'))
    expect(running.said()).toContain('\n08:00:00.000 warn  shop\\u202e forged\\nline \\u001b[2J\n08:00:00.000 info  - second\n')
    running.child.kill('SIGINT')
    expect(await running.done).toMatchObject({ code: 0, stderr: '' })
  })

  test('--quiet shows none', async () => {
    const { running, url } = await startText(['--quiet'])
    expect(await send(url, entryOf({ message: 'unseen' }))).toMatchObject({ status: 200 })
    running.child.kill('SIGTERM')
    expect((await running.done).stdout.toString()).not.toContain('unseen')
  })

  test('goes on when nobody reads what it shows', async () => {
    const { running, told } = await startJson()
    running.child.stdout.destroy()
    const { running: shown, url } = await startText()
    shown.child.stdout.destroy()
    for (const at of [told.url, url, url]) {
      expect(await send(at, entryOf())).toMatchObject({ status: 200 })
    }
    shown.child.kill('SIGINT')
    expect(await shown.done).toMatchObject({ code: 0, stderr: '' })
  })

  test('a port that is taken: the message says what to do, exit 1', async () => {
    const { told } = await startJson()
    const text = await runCli(['dev', '--port', String(told.port)])
    expect(text).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(text.stderr).toMatch(new RegExp(`^pino-ingest: port ${told.port} on 127\\.0\\.0\\.1 is already in use: .*another port.*\n$`))
    const json = await runCli(['dev', '--json', '--port', String(told.port)])
    expect(json).toMatchObject({ code: 1, stderr: '' })
    expect(JSON.parse(json.stdout.toString())).toEqual({ error: { code: 'PORT', message: expect.stringContaining('already in use') } })
  })

  test('--db keeps what arrives', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-dev-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'kept.ndjson')
    const first = await startText(['--db', file])
    expect(first.running.said()).toContain(`Kept in ${file}, which holds 0 entries.`)
    await send(first.url, entryOf({ message: 'kept' }))
    first.running.child.kill('SIGTERM')
    expect((await first.running.done).code).toBe(0)
    const { told } = await startJson(['--db', file])
    expect(told.arrived).toBe(1)
    const again = await call(told.queries['entries'] ?? '', { method: 'GET' })
    expect(again.json.items).toMatchObject([{ entry: { message: 'kept' } }])
  })

  test('a file that cannot be used: exit 1', async () => {
    const result = await runCli(['dev', '--port', '0', '--db', '/dev/null/kept'])
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('/dev/null/kept')
  })
})

test('a line names the error where the message does not', () => {
  const stored = { id: '1', seq: 1, received_at: '', batch_id: null }
  const entry = entryOf({ message: 'payment failed', service: 'shop', level: 'error', error: { type: 'TypeError', message: 'card\ndeclined' } })
  expect(liveLine({ ...stored, entry })).toBe('08:00:00.000 error shop payment failed (TypeError: card\\ndeclined)\n')
  const long = entryOf({ message: 'x'.repeat(5_000), timestamp: '2026-01-31T08:00:00.123456789Z' })
  expect(liveLine({ ...stored, entry: long })).toMatch(/^08:00:00\.123 info {2}- x{499}…\n$/)
})
