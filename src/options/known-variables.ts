/** Finds variables with this package's prefix that nothing reads: a mistyped name would have no effect. */
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { findNearestName } from '../shared/nearest-name.js'
import type { Env } from './ci.js'
import { findEquivalentOptions } from './equivalent-options.js'
import { formatName } from './format-value.js'
import { findVariables } from './option-group.js'
import { OPTION_TABLE, listPaths } from './option-table.js'
import type { OptionName } from './option-table.js'

const PREFIX = 'PINO_INGEST_'
/** The token of the local service. */
export const TOKEN_VARIABLE = 'PINO_INGEST_DEV_TOKEN'
export const MONITOR_TOKEN_VARIABLE = 'PINO_INGEST_MONITOR_TOKEN'
export const MONITOR_TOKEN_FILE_VARIABLE = 'PINO_INGEST_MONITOR_TOKEN_FILE'
/** Kubernetes sets these for a Service whose name begins with `pino-ingest`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|(?:SERVICE_)?PORT(?:_\w+)?)$/

export interface UnknownVariable {
  readonly name: string
  /** Names of the variables that were probably meant; undefined if none is similar. */
  readonly meant?: string
}

/** Variables that are set and not empty, and that no part of the package reads. */
export function findUnknownVariables(env: Env): UnknownVariable[] {
  const given = Object.keys(env).filter((name) => name.startsWith(PREFIX) && isSet(env, name))
  if (given.length === 0) return []
  const variablesByPath = new Map(
    (Object.keys(OPTION_TABLE) as OptionName[])
      .flatMap(listPaths)
      .map(({ path, row }) => [path, findVariables(row, path)] as const),
  )
  const known = [
    ...[...variablesByPath.values()].flat(),
    TOKEN_VARIABLE,
    MONITOR_TOKEN_VARIABLE,
    MONITOR_TOKEN_FILE_VARIABLE,
  ]
  return given
    .filter((name) => !known.includes(name) && !(isSet(env, 'KUBERNETES_SERVICE_HOST') && SERVICE_LINK.test(name)))
    .map((name) => {
      const equivalent = findEquivalentOptions(toOptionName(name)).flatMap(
        (path) => variablesByPath.get(path)?.[0] ?? [],
      )
      const meant = equivalent.length > 0 ? equivalent.join(', ') : findNearestVariable(name, known)
      return { name, ...(meant !== undefined && { meant }) }
    })
}

/** A sentence about each unknown variable, without its value. Undefined if there is none. */
export function describeUnknownVariables(env: Env): string | undefined {
  const unknown = findUnknownVariables(env)
  if (unknown.length === 0) return undefined
  const shown = unknown.map(
    ({ name, meant }) => `${formatName(name)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`,
  )
  return APPLICATION_MESSAGES.variableUnknown.text(shown.join(', '))
}

function isSet(env: Env, name: string): boolean {
  return env[name] !== undefined && env[name] !== ''
}

/** `PINO_INGEST_SERVICE_NAME` becomes `serviceName`. */
function toOptionName(variable: string): string {
  return variable
    .slice(PREFIX.length)
    .toLowerCase()
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Compares without the prefix, which would make short names similar. */
function findNearestVariable(name: string, known: readonly string[]): string | undefined {
  const nearest = findNearestName(
    name.slice(PREFIX.length),
    known.filter((one) => one.startsWith(PREFIX)).map((one) => one.slice(PREFIX.length)),
  )
  return nearest && `${PREFIX}${nearest}`
}
