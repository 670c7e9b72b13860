/**
 * Tests that log, in both pools of vitest. Records still in pino's worker or in the process at the end are lost, so
 * the tests flush afterwards.
 */
import { join } from 'node:path'

const WAYS = /** @type {const} */ ([
  ['worker thread', 'worker'],
  ['in-process', 'stream'],
])
const TAKES = '[`afterAll(() => flush(logger))`](#jest-and-vitest)'

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('vitest')
    kit.install(folder, [kit.tarball, 'pino@10', 'vitest@4'])
    const row = `vitest ${kit.versionIn(folder, 'vitest')}`
    for (const [column, way] of WAYS)
      for (const pool of ['forks', 'threads']) {
        const cwd = kit.folder(join('vitest', `${way}-${pool}`))
        for (const part of ['common', way]) kit.copyApp(`vitest/esm/${part}`, cwd)
        const command = [process.execPath, join(folder, 'node_modules/vitest/vitest.mjs'), 'run', '--pool', pool]
        yield { table: 'tools', row, column, kind: pool, takes: TAKES, command, cwd }
      }
  },
}
