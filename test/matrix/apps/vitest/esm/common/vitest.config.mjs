import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { setupFiles: ['./flush-logs.mjs'] } })
