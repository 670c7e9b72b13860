/** JWT credentials of accounts on servers with an operator: revocation, expiry, and isolation between accounts. */
import { credsAuthenticator } from '@nats-io/transport-node'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { runApp, startApp } from '../process/run-app.js'
import type { AppPlan } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import { Account, Operator } from './operator.js'
import { endApp, publishedBy } from './publish-app.js'
import { Queue, upTo } from './queue.js'

/** Each account has a queue of the same name. */
async function start({ onTestFinished }: TestContext, accounts: readonly Account[]) {
  const operator = new Operator(accounts)
  const servers = await natsServers({ config: operator.config() }, onTestFinished)
  const queues = accounts.map((account) => {
    const { creds } = account.createUser()
    return new Queue(servers.urls, { authenticator: credsAuthenticator(new TextEncoder().encode(creds)) })
  })
  for (const queue of queues) await queue.create()
  const spool = mkdtempSync(join(tmpdir(), 'pino-ingest-accounts-'))
  onTestFinished(() => rmSync(spool, { recursive: true, force: true, maxRetries: 5 }))
  const plan = (credentials: string, given: Partial<AppPlan> = {}): AppPlan => ({
    mode: 'target',
    count: 50,
    end: 'natural',
    ...given,
    options: { nats: { servers: servers.urls, credentials }, spool: { dir: spool } },
  })
  return { operator, servers, queues: queues as [Queue, ...Queue[]], plan }
}

describe.skipIf(SKIPS_NATS).concurrent('a .creds file', UNLESS_IT_HANGS, () => {
  test('publish, also if a signing key issued the user', async (context) => {
    const account = new Account()
    const { queues, plan } = await start(context, [account])
    await publishedBy(plan(account.createUser().creds), queues[0], 50)
    const { creds } = account.createUser({ isSigned: true })
    expect(await publishedBy(plan(creds), queues[0], 100)).toEqual([...upTo(50), ...upTo(50)].toSorted((a, b) => a - b))
  })

  test('that are revoked are reported once, never shown, and used again when they are restored', async (context) => {
    const account = new Account()
    const { operator, servers, queues, plan } = await start(context, [account])
    const { creds, publicKey } = account.createUser()
    const app = startApp(plan(creds, { end: 'hold', count: 100, pausesAt: 50 }))
    await app.heard('paused')
    expect(await queues[0].numbers(50)).toEqual(upTo(50))
    await servers.reload(operator.config([publicKey]))
    app.child.kill('SIGUSR2')
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'AUTH', message: expect.stringContaining('nats.credentials') })
    await servers.reload(operator.config())
    expect(await queues[0].numbers(100)).toEqual(upTo(100))
    const { stderr, events } = await endApp(app)
    expect(events.filter(({ name }) => name === 'ingest:problem')).toHaveLength(1)
    const seed = /SU[A-Z2-7]{56}/.exec(creds)?.[0] ?? expect.unreachable()
    const signature = /\.([\w-]+)\n/.exec(creds)?.[1] ?? expect.unreachable()
    for (const secret of [seed, signature]) expect(stderr + JSON.stringify(events)).not.toContain(secret.slice(8, 30))
  })

  test('that expire: a new user of the account sends the entries on disk', async (context) => {
    const account = new Account()
    const { queues, plan } = await start(context, [account])
    const { creds } = account.createUser({ expiresInS: 3 })
    const app = startApp(plan(creds, { end: 'hold', count: 1_000, perSecond: 200 }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'AUTH', message: expect.stringContaining('nats.credentials') })
    await app.heard('holding')
    await endApp(app)
    expect(await publishedBy(plan(account.createUser().creds, { count: 1 }), queues[0], 1_001)).toEqual([
      0,
      ...upTo(1_000),
    ])
  })
})

describe.skipIf(SKIPS_NATS).concurrent('entries on disk', UNLESS_IT_HANGS, () => {
  test('of one account do not publish to another account', async (context) => {
    const accounts = [new Account(), new Account()]
    const { servers, queues, plan } = await start(context, accounts)
    const [first, second] = accounts.map((account) => account.createUser().creds) as [string, string]
    await servers.killAll()
    await runApp(plan(first))
    await servers.startAll()
    const other = queues[1] ?? expect.unreachable()
    expect(await publishedBy(plan(second, { count: 2 }), other, 2)).toEqual(upTo(2))
    expect(await publishedBy(plan(first, { count: 1 }), queues[0], 51)).toEqual([0, ...upTo(50)])
    expect(await other.numbers(2)).toEqual(upTo(2))
  })
})
