/** Checks of what is set, before anything is sent. Pure but for files that variables name. */
import type { RuntimeVersions } from '../../shared/node-version.js'
import { IngestError } from '../../shared/errors.js'
import { resolveOptions } from '../../options/resolve-options.js'
import type { Settings, OptionSources } from '../../options/resolve-options.js'
import { TOKEN_VARIABLE } from '../../options/dev-token.js'
import { findNearestName } from '../../options/nearest-name.js'
import { rowOf, OPTION_TABLE, variablesOf } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Check } from './doctor-check.js'

type Env = OptionSources['env']

const NAMES = Object.keys(OPTION_TABLE) as OptionName[]
const PREFIX = 'PINO_INGEST_'

/** @returns the settings too, where the options resolve. */
export function checkOptions(
  given: Record<string, unknown>,
  sources: OptionSources,
): { readonly check: Check; readonly settings?: Settings } {
  const name = 'configuration'
  try {
    const settings = resolveOptions(given, sources)
    const origins = NAMES.flatMap((option) => describeOption(option, settings, given, sources.env))
    const local = settings.isLocalDefault ? [`url ${settings.url} (not set: the local service)`] : []
    const detail = [...local, ...origins, 'all else by default'].join(', ')
    const fix = settings.enabled ? {} : { fix: 'nothing is sent while enabled is false: unset PINO_INGEST_ENABLED' }
    return { check: { name, ok: true, detail, ...fix }, settings }
  } catch (error) {
    if (!(error instanceof IngestError)) throw error
    return {
      check: {
        name,
        ok: false,
        detail: error.message,
        fix: 'set what is named; the README has a table of all options',
      },
    }
  }
}

/** Where an option comes from; its value where it is plain and no secret. */
function describeOption(option: OptionName, settings: Settings, given: Record<string, unknown>, env: Env): string[] {
  // Which of its variables counts depends on the URL; the check of the proxy tells.
  if (option === 'proxy') return []
  const variable = variablesOf(option).find((one) => isSet(env, one))
  const origin = given[option] !== undefined ? `--${option}` : variable
  if (origin === undefined) return []
  const value = settings[option as keyof Settings]
  const isPlain = rowOf(option).secret !== true && typeof value !== 'object'
  return [
    `${option}${isPlain ? ` ${String(value)}` : ''} (${origin}${rowOf(option).secret === true ? ', not shown' : ''})`,
  ]
}

/** Empty unless a key was given without a URL. */
export function checkKeyUse(settings: Settings | undefined): Check[] {
  if (settings?.keyWarning === undefined) return []
  return [{ name: 'apiKey', ok: true, detail: 'ignored', fix: settings.keyWarning }]
}

/** Nothing where all variables with our prefix are known. */
export function checkVariables(env: Env): Check[] {
  const known = [
    ...NAMES.flatMap(variablesOf),
    'PINO_INGEST_MONITOR_TOKEN',
    'PINO_INGEST_MONITOR_TOKEN_FILE',
    TOKEN_VARIABLE,
  ]
  const unknown = Object.keys(env).filter(
    (variable) => variable.startsWith(PREFIX) && isSet(env, variable) && !known.includes(variable),
  )
  return unknown.map((variable) => {
    const nearest = findNearestName(variable, known)
    const fix = nearest === undefined ? 'unset it' : `did you mean ${nearest}?`
    return { name: 'variable', ok: true, detail: `${variable} is set, but nothing reads it`, fix }
  })
}

/** Options passed in code are not visible to this command. */
export const OPTIONS_IN_CODE: Check = {
  name: 'options',
  ok: true,
  detail: 'note: environment variables and flags are checked; options passed in code are not visible to this command',
}

/** Never wrong: on a Node that is too old the program ends before it comes here. */
export function describeRuntime({ node, bun, deno }: RuntimeVersions): Check {
  const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`
  return { name: 'node', ok: true, detail: other === undefined ? String(node) : `${other}, as Node ${node}` }
}

function isSet(env: Env, variable: string): boolean {
  return env[variable] !== undefined && env[variable] !== ''
}
