/** The typing holds for a whole program, so that what shows it is compiled as a program of its own. */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))

test("log calls know the entry's fields, and the helpers take what they say", async () => {
  const compiler = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder, '--pretty', 'false']).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})
