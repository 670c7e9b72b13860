/** JWT credentials of accounts on servers with an operator: signing keys, and expiry. */
import { credsAuthenticator } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { startApp } from '../process/run-app.js'
import type { AppPlan } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import { Account, Operator } from './operator.js'
import { endApp, preparePublishing, publishedBy } from './publish-app.js'
import { Queue, upTo } from './queue.js'

async function start(context: TestContext) {
  const account = new Account()
  const servers = await natsServers({ config: new Operator(account).config() }, context.onTestFinished)
  const authenticator = credsAuthenticator(new TextEncoder().encode(account.createUser()))
  const queue = new Queue(servers.urls, { authenticator })
  await queue.create()
  const { plan } = preparePublishing(context, servers, { stream: 'PINO_INGEST' })
  return {
    account,
    queue,
    plan: (credentials: string, given: Partial<AppPlan> = {}) => plan(given, {}, { credentials }),
  }
}

describe.skipIf(SKIPS_NATS).concurrent('a .creds file', UNLESS_IT_HANGS, () => {
  test('publish, also if a signing key issued the user', async (context) => {
    const { account, queue, plan } = await start(context)
    await publishedBy(plan(account.createUser()), queue, 50)
    const signed = account.createUser({ isSigned: true })
    expect(await publishedBy(plan(signed), queue, 100)).toEqual([...upTo(50), ...upTo(50)].toSorted((a, b) => a - b))
  })

  test('that expire: a new user of the account sends the entries on disk', async (context) => {
    const { account, queue, plan } = await start(context)
    const creds = account.createUser({ expiresInS: 3 })
    const app = startApp(plan(creds, { end: 'hold', count: 1_000, perSecond: 200 }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'AUTH', message: expect.stringContaining('nats.credentials') })
    await app.heard('holding')
    await endApp(app)
    expect(await publishedBy(plan(account.createUser(), { count: 1 }), queue, 1_001)).toEqual([0, ...upTo(1_000)])
  })
})
