/** `pino-ingest dev` as a process: output that is not read, the browser, and --load. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../client/release/clones.js'
import { entryOf, local, started as startedService, until } from '../../service/support.js'
import { devEnv, entriesAt, send, startJson, startText } from '../dev-started.js'
import { runCli } from '../run-cli.js'

test('continues when its output is not read', async () => {
  const { running, started } = await startJson()
  running.child.stdout.destroy()
  const { running: shown, url } = await startText()
  shown.child.stdout.destroy()
  for (const at of [started.url, url, url]) {
    expect(await send(at, entryOf())).toMatchObject({ status: 200 })
  }
  shown.child.kill('SIGINT')
  expect(await shown.done).toMatchObject({ code: 0, stderr: '' })
})

test('skips records if the output is read too slowly, and reports how many', async () => {
  const { running, url } = await startText()
  running.child.stdout.pause()
  const batch = Array.from({ length: 100 }, () => entryOf({ message: 'x'.repeat(400) }))
  const sent = 6_000
  for (let count = 0; count < sent; count += batch.length) await send(url, ...batch)
  running.child.stdout.resume()
  await until(() => running.said().includes('records skipped'), 20_000)
  const left = Number(/… (\d+) records skipped/.exec(running.said())?.[1])
  expect(left).toBeGreaterThan(0)
  expect(
    running
      .said()
      .split('\n')
      .filter((line) => line.endsWith('x')),
  ).toHaveLength(sent - left)
  await send(url, entryOf({ message: 'shown again' }))
  await until(() => running.said().includes('shown again'), 20_000)
})

test.runIf(process.platform === 'linux')(
  '--open passes the browser a file of this user that redirects to the page, and reports a failure',
  async () => {
    const folder = scratch()
    const browser = join(folder, 'xdg-open')
    writeFileSync(browser, `#!/bin/sh\necho "$*" > ${folder}/opened; exit 3\n`, { mode: 0o755 })
    const env = { ...devEnv(), PATH: `${folder}:${process.env['PATH']}` }
    const { running, started } = await startJson(['--open'], env)
    await until(() => running.said().includes('xdg-open exited with 3'), 20_000)
    const opened = readFileSync(join(folder, 'opened'), 'utf8').trim()
    expect([opened, running.said().split('\n')[1]]).not.toContain(started.token)
    expect(statSync(opened).mode & 0o777).toBe(0o600)
    expect(readFileSync(opened, 'utf8')).toContain(`content="0;url=${started.page_url}"`)
    running.child.kill('SIGTERM')
    await running.done
    expect(existsSync(opened)).toBe(false)
  },
)

test("--load opens what query prints as JSON, and the export, again; the application's options do not matter", async () => {
  const token = 'token-of-the-tests_16'
  const service = await startedService({ token })
  const entries = ['one', 'two'].map((message) =>
    entryOf({ message, level: 'debug', user: { id: 'u' }, tags: ['a'], metadata: { n: { deep: [1] } } }),
  )
  await send(service.url, ...entries)
  const { stdout } = await runCli(['query', '--json', '--url', service.origin], { PINO_INGEST_DEV_TOKEN: token })
  const { text } = await local(service, 'export')
  const application = {
    PINO_INGEST_API_KEY: 'a-real-key',
    PINO_INGEST_SAMPLE: '{"debug":0}',
    PINO_INGEST_TAGS: 'added',
    OTEL_RESOURCE_ATTRIBUTES: 'host.name=added',
  }
  for (const lines of [stdout.toString(), text]) {
    const file = join(scratch(), 'session.ndjson')
    writeFileSync(file, lines)
    const { running, started } = await startJson(['--load', file], { ...devEnv(), ...application })
    expect(started.arrived).toBe(2)
    const loaded = (await entriesAt(started)).map(({ entry }) => entry)
    expect([loaded.length, loaded]).toEqual([2, expect.arrayContaining(entries)])
    running.child.kill('SIGTERM')
    expect(await running.done).toMatchObject({ code: 0, stderr: '' })
  }
})

test.each([
  '',
  '[\n  {"id":"ent_1","seq":1,"received_at":"","batch_id":null,"entry":{"level":"info","message":"m"}}\n]',
])('--load of what is no list of entries ends with 1: %j', async (content) => {
  const file = join(scratch(), 'session.ndjson')
  if (content !== '') writeFileSync(file, content)
  const { code, stderr } = await runCli(['dev', '--port', '0', '--load', file], devEnv())
  expect([code, stderr]).toEqual([1, expect.stringContaining(file)])
})
