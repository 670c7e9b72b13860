/** The environment that brings a program to the local service, whatever the shell or an `.env` file says. Pure. */
import { variablesOf } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Environment } from '../shared/child-process.js'

/** Options of the real service: its keys must not come near, and its certificates may not be on this machine. */
const EMPTIED: readonly OptionName[] = ['apiKey', 'previousApiKeys', 'tls']

export interface ProgramEnv {
  readonly env: Environment
  /** Variables of the shell that said something else, and do not count. */
  readonly overridden: readonly string[]
}

export function createProgramEnv(shell: Environment, url: string): ProgramEnv {
  // As for a local service that nobody named: what it misses is not kept on disk, unless that is asked for.
  const isSpoolGiven = ['PINO_INGEST_SPOOL', 'PINO_INGEST_SPOOL_DIR'].some((name) => (shell[name] ?? '') !== '')
  const local: Readonly<Record<string, string>> = {
    // Emptied, not taken away: an `.env` file sets what is missing.
    ...Object.fromEntries(EMPTIED.flatMap(variablesOf).map((name) => [name, ''])),
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
