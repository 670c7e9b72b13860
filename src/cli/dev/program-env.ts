/** The environment in which a program sends to the local service, whatever the shell or an `.env` file sets. Pure. */
import { allVariablesOf } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Environment } from '../shared/child-process.js'

/** Options of the real service: its keys, headers and proxy must not be used here, its certificates may be missing, and nothing may be published to its queue. */
const EMPTIED: readonly OptionName[] = ['apiKey', 'previousApiKeys', 'tls', 'proxy', 'headers', 'nats']

export interface ProgramEnv {
  readonly env: Environment
  /** Variables of the shell that are overridden. */
  readonly overridden: readonly string[]
}

export function createProgramEnv(shell: Environment, url: string): ProgramEnv {
  // The default for the implicit local service: no spool, unless one is set.
  const isSpoolGiven = allVariablesOf('spool').some((name) => (shell[name] ?? '') !== '')
  const local: Readonly<Record<string, string>> = {
    // Empty, not deleted: an `.env` file sets variables that are missing.
    ...Object.fromEntries(EMPTIED.flatMap(allVariablesOf).map((name) => [name, ''])),
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
