import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** What is measured in these is the machine's as well: they run when all others have, one at a time, each in a process of its own. */
const ALONE = [
  'test/browser/speed.browser.test.ts',
  'test/filter/memory.process.test.ts',
  'test/process/exit-time.process.test.ts',
]
/** Real processes that are waited for: more at once would make their timings wander. */
const TIMED = [
  'test/{serverless,faults}/**/*.test.ts',
  'test/process/{busy,exits,outages,release-exit}.process.test.ts',
  'test/app/lifecycle/{flush,flush-on-signal}.process.test.ts',
]
/** Nothing in these outlives its test: one process runs many of them, and loads the sources once. */
const SHARED = [
  'test/{record,redaction,breadcrumbs,filter,options,client,request-logs,delivery,pipeline,service,benchmarks,spool,diagnostics,batch}/**/!(*.process|*.browser).test.ts',
]
/** Applications with tests of their own, for other runners. */
const APPS = 'test/matrix/apps/**'

/** A minute or more each, the longest first: begun last, they would run on alone. */
const LONG = [
  'spool/model',
  'cli/spool',
  'cli/send.',
  'browser/axe',
  'process/exits',
  'app/lifecycle/flush',
  'process/secrets',
  'types/compilers',
  'browser/xss',
  'readme-programs',
  'faults/quick',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((name) => moduleId.includes(`/test/${name}`))
      return place === -1 ? LONG.length : place
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's own
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

/** For two cores. Much of what these do is to wait. */
const WORKERS = 3

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED,
          exclude: [...TIMED, ...ALONE],
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [...SHARED, ...TIMED, ...ALONE, APPS],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'timed', include: TIMED, maxWorkers: 2, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
    setupFiles: [fileURLToPath(new URL('scratch-spool.ts', import.meta.url))],
    // Real workers, processes and sockets take their time on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: { provider: 'v8', include: ['src/**'], exclude: ['src/**/*.md'] },
  },
})
