import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: [fileURLToPath(new URL('scratch-spool.ts', import.meta.url))],
    // Real workers, processes and sockets take their time on a busy machine; nothing here asserts speed.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores: more files at once only make timings of the process tests wander.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**'], exclude: ['src/**/*.md'] },
  },
})
