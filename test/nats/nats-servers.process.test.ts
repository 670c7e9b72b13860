/** Tests of the server harness itself. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import { findNatsServer, natsServers, SKIPS_NATS } from './nats-servers.js'

describe('uses', () => {
  const server = (folder: string) => join(folder, 'nats-server')
  const PATH = ['/old', '/new'].join(delimiter)
  test.each([
    ['the first recent server', { PATH }, { '/old': '2.9.10', '/new': '2.10.23' }, server('/new')],
    ['no 2.10.3, which is older than 2.10.23', { PATH }, { '/old': '2.10.3' }, undefined],
    ['a server outside of PATH', { PATH }, { '/usr/sbin': '2.12.0' }, server('/usr/sbin')],
    [
      'the given server, of any version',
      { PATH, NATS_SERVER_BIN: server('/old') },
      { '/old': '2.9.10', '/new': '3.0.0' },
      server('/old'),
    ],
    ['no other server than the given one', { PATH, NATS_SERVER_BIN: server('/wrong') }, { '/new': '3.0.0' }, undefined],
  ])('%s', (_case, env, versions: Record<string, string>, expected) => {
    expect(findNatsServer(env, (path) => versions[dirname(path)])).toBe(expected)
  })
})

test('fetches no server without apt', ({ onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-fetch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = join(folder, 'fetch.sh')
  copyFileSync(fileURLToPath(new URL('fetch-nats-server.sh', import.meta.url)), script)
  const { status, stdout, stderr } = spawnSync('/bin/bash', [script], { env: { PATH: folder }, encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain('NATS_SERVER_BIN')
})

test.skipIf(SKIPS_NATS)('a stream survives a kill, and a reload applies other users', async ({ onTestFinished }) => {
  const servers = await natsServers({}, onTestFinished)
  const nc = await connect({ servers: servers.urls, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
  onTestFinished(() => nc.close())
  await (await jetstreamManager(nc)).streams.add({ name: 'S', subjects: ['s'] })
  await jetstream(nc).publish('s', 'one')
  const [node] = servers.nodes
  await node?.restart('SIGKILL')
  await servers.ready()
  expect(await node?.streamState('S')).toMatchObject({ messages: 1, isLeader: true })

  await servers.reload('authorization { user: u, password: p }')
  await expect(connect({ servers: servers.urls, reconnect: false })).rejects.toThrow(/authorization/i)
  const allowed = await connect({ servers: servers.urls, user: 'u', pass: 'p' })
  await allowed.close()
})
