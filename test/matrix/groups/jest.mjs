/**
 * Tests that log, in Jest. Records still in pino's worker or in the process at the end are lost, so the tests flush
 * afterwards.
 */
import { join } from 'node:path'

const KINDS = /** @type {const} */ ([
  ['ESM', 'esm'],
  ['CJS', 'cjs'],
])
const WAYS = /** @type {const} */ ([
  ['worker thread', 'worker'],
  ['in-process', 'stream'],
])
/** Jest's report on stderr. Any other line is unexpected, such as the warning about open handles. */
const REPORT =
  /^(?:PASS .*|\s+✓ .*|(?:Test Suites|Tests|Snapshots|Time):.*|Ran all test suites\..*|\(node:\d+\) ExperimentalWarning: VM Modules.*|\(Use `node --trace-warnings.*)$/gm
const TAKES = '[`afterAll(() => flush(logger))`](#jest-and-vitest)'

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('jest')
    kit.install(folder, [kit.tarball, 'pino@10', 'jest@30', 'jest-environment-jsdom@30'])
    const row = `Jest ${kit.versionIn(folder, 'jest')}`
    const command = [process.execPath, join(folder, 'node_modules/jest/bin/jest.js')]
    for (const [column, way] of WAYS)
      for (const [kind, under] of KINDS) {
        const cwd = kit.folder(join('jest', `${under}-${way}`))
        for (const part of ['common', way]) kit.copyApp(`jest/${under}/${part}`, cwd)
        const env = under === 'esm' ? { NODE_OPTIONS: '--experimental-vm-modules' } : undefined
        const cell = { table: /** @type {const} */ ('tools'), row, column, kind, takes: TAKES, command, cwd }
        yield { ...cell, ...(env && { env }), allowedStderr: REPORT }
      }
    // jsdom removes `setImmediate`, which pino's worker needs, and has its own AbortSignal.
    for (const [column, way] of WAYS) {
      yield {
        table: 'tools',
        row: `${row}, \`testEnvironment: jsdom\``,
        column,
        takes: '`@jest-environment node` at the top of a test that logs',
        command: [...command, '--env', 'jsdom'],
        cwd: join(kit.scratch, 'jest', `cjs-${way}`),
        refuses:
          way === 'worker' ? /setImmediate is not defined/ : /must be an instance of EventEmitter or EventTarget/,
      }
    }
  },
}
