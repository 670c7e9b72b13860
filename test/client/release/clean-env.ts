/** The tests ignore the variables of the machine that runs them. */
import { afterEach, beforeEach, vi } from 'vitest'
import { CI_VARIABLE } from '../../recorded-ci.js'

export function withCleanEnv(): void {
  beforeEach(() => {
    for (const name of Object.keys(process.env)) {
      if (CI_VARIABLE.test(name) || /^(?:PINO_INGEST_|npm_package_|OTEL_|https?_proxy$|NODE_ENV$)/i.test(name))
        vi.stubEnv(name, undefined)
    }
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })
}
