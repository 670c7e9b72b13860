/** Checks the configuration without sending a request. Pure, except that it reads files named by variables. */
import { findUnknownVariables } from '../../options/known-variables.js'
import { OPTION_TABLE, listAllVariables, findRow } from '../../options/option-table.js'
import type { Members } from '../../options/kinds.js'
import type { OptionName } from '../../options/option-table.js'
import { RESOURCE_VARIABLE, findResourceProblem, readResource } from '../../options/resource.js'
import { resolveOptions } from '../../options/resolve-options.js'
import type { OptionSources, Settings } from '../../options/resolve-options.js'
import { IngestError } from '../../shared/errors.js'
import type { RuntimeVersions } from '../../shared/node-version.js'
import { fail, pass } from '../shared/check.js'
import type { Check } from '../shared/check.js'

type Env = OptionSources['env']

const NAMES = Object.keys(OPTION_TABLE) as OptionName[]

/** @returns the check, and the settings if the options are valid */
export function checkOptions(
  given: Record<string, unknown>,
  sources: OptionSources,
): { readonly check: Check; readonly settings?: Settings } {
  try {
    const settings = resolveOptions(given, sources)
    const origins = NAMES.flatMap((option) => describeOption(option, settings, given, sources.env))
    const detail = [...origins, 'all others by default'].join(', ')
    const fix = settings.enabled ? undefined : 'nothing is sent while enabled is false: unset PINO_INGEST_ENABLED'
    return { check: pass('configuration', detail, fix), settings }
  } catch (error) {
    if (!(error instanceof IngestError)) throw error
    return { check: fail('configuration', error.message, 'fix the value in the message above') }
  }
}

/** The origin of an option, and its value unless it is or contains a secret. */
function describeOption(option: OptionName, settings: Settings, given: Record<string, unknown>, env: Env): string[] {
  if (option === 'proxy') return [] // it has a check of its own
  // With nats, the address is that of the servers.
  const source = option === 'url' && settings.nats !== undefined ? 'nats' : option
  const origin = given[source] !== undefined ? `--${source}` : describeVariables(source, env)
  if (origin === undefined) return []
  const { secret, kind } = findRow(option)
  const value = settings[option as keyof Settings]
  const isHidden = secret === true || (typeof value === 'object' && (!kind.members || hasSecret(kind.members)))
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return [`${option}${isHidden ? '' : ` ${text}`} (${origin}${secret === true ? ', not shown' : ''})`]
}

function hasSecret(members: Members): boolean {
  return Object.values(members).some(({ secret }) => secret === true)
}

/** All variables that are set, for a group of options; for a single option, the variable that is used. */
function describeVariables(option: OptionName, env: Env): string | undefined {
  const set = listAllVariables(option).filter((one) => isSet(env, one))
  if (set.length > 0) return findRow(option).kind.members === undefined ? set[0] : set.join(', ')
  const isAttribute = option === 'service' || option === 'version' || option === 'environment'
  return isAttribute && readResource(env)[option] !== undefined ? RESOURCE_VARIABLE : undefined
}

/** Empty unless a key was given with `nats`. */
export function checkKeyUse(settings: Settings | undefined): Check[] {
  return settings?.warning === undefined
    ? []
    : [pass('apiKey', 'used only by pino-ingest forward, and by helpers such as sendFeedback()')]
}

/** Warns about unknown variables with the prefix, and about an unreadable OTEL_RESOURCE_ATTRIBUTES. */
export function checkVariables(env: Env): Check[] {
  const problem = findResourceProblem(env)
  return [
    ...findUnknownVariables(env).map(({ name, meant }) =>
      pass('variable', `${name} is not a known variable`, meant === undefined ? 'unset it' : `did you mean ${meant}?`),
    ),
    ...(problem === undefined
      ? []
      : [pass('variable', `${RESOURCE_VARIABLE} is ignored: ${problem}`, 'write it as key=value,key=value')]),
  ]
}

export const OPTIONS_IN_CODE = pass(
  'options',
  'note: only environment variables and flags are checked; this command cannot see options passed in code',
)

/** Always passes: with an unsupported Node version the program has already ended. */
export function describeRuntime({ node, bun, deno }: RuntimeVersions): Check {
  const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`
  return pass('node', other === undefined ? String(node) : `${other}, as Node ${node}`)
}

function isSet(env: Env, variable: string): boolean {
  return env[variable] !== undefined && env[variable] !== ''
}
