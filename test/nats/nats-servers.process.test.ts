/** Tests of the server harness itself. */
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import { findNatsServer, natsServers, SKIPS_NATS } from './nats-servers.js'

test('finds a server in PATH, and fails for a wrong NATS_SERVER_BIN', () => {
  const at = (path: string) => (given: string) => given === path
  expect(findNatsServer({ PATH: '/a:/b' }, at(join('/b', 'nats-server')))).toBe(join('/b', 'nats-server'))
  expect(findNatsServer({ PATH: '/a', NATS_SERVER_BIN: '/c' }, at('/c'))).toBe('/c')
  expect(findNatsServer({ PATH: '/a', NATS_SERVER_BIN: '/c' }, at(join('/a', 'nats-server')))).toBeUndefined()
})

describe.skipIf(SKIPS_NATS).concurrent('servers', () => {
  test('keep a stream after a kill, and apply other users on a reload', async ({ onTestFinished }) => {
    const servers = await natsServers({}, onTestFinished)
    const nc = await connect({ servers: servers.urls, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
    onTestFinished(() => nc.close())
    await (await jetstreamManager(nc)).streams.add({ name: 'S', subjects: ['s'] })
    await jetstream(nc).publish('s', 'one')
    const [node] = servers.nodes
    await node?.restart('SIGKILL')
    await servers.ready()
    expect(await node?.streamState('S')).toMatchObject({ messages: 1, leader: 'n1' })

    await servers.reload('authorization { user: u, password: p }')
    await expect(connect({ servers: servers.urls, reconnect: false })).rejects.toThrow(/authorization/i)
    const allowed = await connect({ servers: servers.urls, user: 'u', pass: 'p' })
    await allowed.close()
  })

  test('of a cluster elect another leader after a kill', async ({ onTestFinished }) => {
    const servers = await natsServers({ nodes: 3 }, onTestFinished)
    const nc = await connect({ servers: servers.urls, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
    onTestFinished(() => nc.close())
    await (await jetstreamManager(nc)).streams.add({ name: 'S', subjects: ['s'], num_replicas: 3 })
    const first = await servers.leaderOf('S')
    await first.kill()
    const second = await servers.leaderOf('S')
    expect(second.name).not.toBe(first.name)
    await first.start()
    await servers.ready()
  })
})
