import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What is measured in these is the machine's as well: they run when all others have, one at a time. */
const ALONE = ['test/browser/speed.test.ts']

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ALONE, sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
    setupFiles: [fileURLToPath(new URL('scratch-spool.ts', import.meta.url))],
    // Real workers, processes and sockets take their time on a busy machine; nothing here asserts speed.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores: more files at once only make timings of the process tests wander.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**'], exclude: ['src/**/*.md'] },
  },
})
