import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const suite = (suffix: string): string => `test/**/*.${suffix}.test.ts`

/** The suite of a file is its suffix; a file without one is a unit test. */
const SUITES = ['process', 'browser', 'full', 'perf'].map(suite)
/** Applications with their own tests for other runners. */
const APPS = 'test/matrix/apps/**'

/** Unit tests run last: they are short and keep all workers busy until the end. */
class UnitLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isUnit = ({ project }: TestSpecification): number => Number(project.name === 'unit')
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's method, not an array's
    return (await super.sort(files)).toSorted((one, other) => isUnit(one) - isUnit(other))
  }
}

/** For two cores: process and browser tests wait for more than half of their time. */
const WORKERS = 4

export default defineConfig({
  root: path('..'),
  test: {
    sequence: { sequencer: UnitLast },
    projects: [
      {
        extends: true,
        // Unit tests need no build, since the examples load the sources.
        resolve: {
          alias: [
            { find: /^pino-ingest$/, replacement: path('../src/index.ts') },
            { find: /^pino-ingest\/service$/, replacement: path('../src/service/index.ts') },
          ],
        },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SUITES, APPS],
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      ...['process', 'browser', 'full'].map((name) => ({
        extends: true as const,
        test: { name, include: [suite(name)], exclude: [APPS], maxWorkers: WORKERS, sequence: { groupOrder: 0 } },
      })),
      // These measure time or memory: last, and one at a time.
      { extends: true, test: { name: 'perf', include: [suite('perf')], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
    setupFiles: [path('scratch-spool.ts')],
    // Workers, processes and sockets are slow on a busy machine. More runs of a property take their time.
    testTimeout: process.env['MODEL_RUNS'] === undefined ? 60_000 : 3_600_000,
    hookTimeout: 60_000,
    // Concurrent tests of a file start processes in addition to those of other workers.
    maxConcurrency: 3,
    coverage: { provider: 'v8', include: ['src/**'], exclude: ['src/**/*.md'] },
  },
})
