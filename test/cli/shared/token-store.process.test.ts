/** Processes that create the token of the local service at the same time. */
import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { scratch } from '../../client/release/clones.js'
import { until } from '../../service/support.js'

const TOKEN_MODULE = new URL('../../../build/modules/cli/shared/token-store.js', import.meta.url).href

test('concurrent starts use one token', async () => {
  const state = scratch()
  const rounds = 25
  // All processes run each round at the same time.
  const script = `import(${JSON.stringify(TOKEN_MODULE)}).then(({ findOrCreateToken }) => {
    process.stdin.once('data', (start) => {
      const tokens = Array.from({ length: ${rounds} }, (_, round) => {
        while (Date.now() < Number(start) + round * 20);
        return findOrCreateToken({ XDG_STATE_HOME: ${JSON.stringify(state)} + '/' + round }).token
      })
      console.log(JSON.stringify(tokens))
      process.exit()
    })
    console.log('ready')
  })`
  const all = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  onTestFinished(() => {
    for (const one of all) one.kill('SIGKILL')
  })
  const said = all.map((one) => {
    const text: string[] = []
    one.stdout.on('data', (chunk: Buffer) => text.push(chunk.toString()))
    return () => text.join('')
  })
  await until(() => said.every((one) => one().includes('ready')), 20_000)
  for (const one of all) one.stdin.write(String(Date.now() + 50))
  await until(() => said.every((one) => one().endsWith(']\n')), 20_000)
  const [first, ...others] = said.map((one) => JSON.parse(one().replace('ready', '')) as string[])
  expect(new Set(first).size).toBe(rounds)
  for (const other of others) expect(other).toEqual(first)
})
