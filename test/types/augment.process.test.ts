/** The augmentation applies to a whole program, so the example is compiled as a separate program. */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))

test("log calls and helpers check the entry's fields", async () => {
  const compiler = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder, '--pretty', 'false']).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})
