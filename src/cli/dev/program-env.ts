/** Creates the environment in which a program sends to the local service, regardless of the shell and `.env` files. Pure. */
import { listAllVariables } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Environment } from '../shared/child-process.js'

/** Options of the real service. Its keys, headers, proxy and queue must not be used here, and its certificates may be missing. */
const EMPTIED: readonly OptionName[] = ['apiKey', 'previousApiKeys', 'tls', 'proxy', 'headers', 'nats']

export interface ProgramEnv {
  readonly env: Environment
  /** Variables of the shell that are overridden. */
  readonly overridden: readonly string[]
}

export function createProgramEnv(shell: Environment, url: string): ProgramEnv {
  // As by default for the local service: no spool unless one is set.
  const isSpoolGiven = listAllVariables('spool').some((name) => (shell[name] ?? '') !== '')
  const local: Readonly<Record<string, string>> = {
    // Empty instead of deleted, since an `.env` file sets missing variables.
    ...Object.fromEntries(EMPTIED.flatMap(listAllVariables).map((name) => [name, ''])),
    PINO_INGEST_URL: url,
    PINO_INGEST_API_KEY: 'local',
    PINO_INGEST_ENABLED: 'true',
    ...(!isSpoolGiven && { PINO_INGEST_SPOOL: 'false' }),
  }
  const overridden = Object.entries(local)
    .filter(([name, value]) => ![value, undefined, ''].includes(shell[name]))
    .map(([name]) => name)
  return { env: { ...shell, ...local }, overridden }
}
