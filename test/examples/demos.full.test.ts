/** Runs the demos, which check themselves that everything arrives, and end with 0 if it does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { headingsOf } from '../markdown.js'
import { SKIPS_NATS } from '../nats/nats-servers.js'
import { startCli } from '../cli/run-cli.js'
import { cleanEnv } from '../process/run-app.js'

function startDemo(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const file = fileURLToPath(new URL(`${name}/main.mjs`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], { env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (printed[stream] += text))
  return { child, printed, done: once(child, 'close').then(([code]) => code as number | null) }
}

test('npm run demo -- --keep: runs until Ctrl-C, and the printed page, links and commands work', async () => {
  // Settings in the shell for another application must not change the output.
  const { child, printed, done } = startDemo('demo', ['--keep'], { PINO_INGEST_ENABLED: 'false' })
  await expect.poll(() => printed.stdout + printed.stderr, { timeout: 120_000 }).toContain('until Ctrl-C')
  const { stdout } = printed
  const [, lines, arrived] = /the shop logged (\d+) lines; (\d+) entries arrived/.exec(stdout) ?? []
  expect(Number(lines)).toBeGreaterThan(100)
  expect(arrived).toBe(lines)
  const [, section] = /"([^"]+)" in README\.md/.exec(stdout) ?? []
  expect(headingsOf('README.md')).toContain(section)
  const [, page = ''] = /(http:\S+\/#token=\S+)/.exec(stdout) ?? []
  expect((await fetch(page)).headers.get('content-type')).toMatch(/^text\/html/)
  const links = [...stdout.matchAll(/http:\S+\/local\/\S+/g)].map(([link]) => link)
  expect(links).toHaveLength(4)
  for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200])
  const [, given = '', args = ''] = /PINO_INGEST_DEV_TOKEN=(\S+) npx pino-ingest (tail .+)\n/.exec(stdout) ?? []
  const tail = startCli([...args.split(' '), '--lines', '1'], { PINO_INGEST_DEV_TOKEN: given })
  // The shop goes on.
  await expect.poll(() => tail.said(), { timeout: 120_000 }).toMatch(/(?: (?:shop|inventory) .*\n[^]*){2}/)
  tail.child.kill('SIGINT')
  expect(await tail.done).toMatchObject({ code: 0 })
  child.kill('SIGINT')
  expect([await done, printed.stderr]).toEqual([0, ''])
}, 400_000)

test.skipIf(SKIPS_NATS)('npm run demo:fleet: nothing is lost with all three faults', { timeout: 180_000 }, async () => {
  const { printed, done } = startDemo('demo-fleet', ['--entries', '2000', '--seconds', '12', '--exit'])
  expect([await done, printed.stderr]).toEqual([0, ''])
  const counts = ['logged', 'arrived', 'lost'].map(
    (label) => new RegExp(`^ *${label} +([\\d,]+)`, 'm').exec(printed.stdout)?.[1],
  )
  expect(counts).toEqual(['2,000', '2,000', '0'])
  expect(printed.stdout.match(/SIGKILL/g)).toHaveLength(2)
  expect(printed.stdout).toContain('The service is down')
})
