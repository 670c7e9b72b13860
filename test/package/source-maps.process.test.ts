/** Stack traces of the package's own code, in the build. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readText } from '../markdown.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function stackOf(flags: readonly string[], program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', program], { cwd: root })
  return stdout
}

test.each([
  ['common.js', `new (require('pino-ingest/client').IngestClient)({ url: 'no' })`],
  [
    'pipeline.js',
    `let error
    const beforeSend = () => { error = new Error('made by the hook'); return null }
    const options = { url: 'http://127.0.0.1:1/api/v1', apiKey: 'k', spool: false, beforeSend }
    require('pino-ingest').ingestStream(options).write('{"level":50,"time":1,"msg":"refused"}\\n')
    throw error`,
  ],
  ['application.js', `require('pino-ingest').withScope({}, 'no function')`],
])('code of %s: its functions have names, and with source maps lines of src', async (file, program) => {
  const caught = `try { ${program} } catch (error) { console.log(error.stack) }`
  const [plain, mapped] = await Promise.all([stackOf([], caught), stackOf(['--enable-source-maps'], caught)])
  expect(plain).toMatch(new RegExp(`at (?:new )?\\w{4,}.*dist.cjs.${file}:`))
  expect(plain).not.toContain('/src/')
  const frames = [...mapped.matchAll(/\bat .*?\b(src\/[\w/-]+\.ts):(\d+)/g)]
  expect(frames.length).toBeGreaterThan(0)
  // Each is a call, or where the error is made.
  const lines = frames.map(([, source = '', line = '']) => readText(source).split('\n')[Number(line) - 1])
  for (const line of lines) expect(line).toMatch(/throw |\(/)
})
