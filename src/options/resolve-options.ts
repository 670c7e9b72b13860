/** Resolves and validates the configuration: code wins over environment, which wins over defaults. */
import { readFileSync } from 'node:fs'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { IngestError } from '../shared/errors.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { findCiDeploy } from './ci.js'
import { isPlainObject } from './kinds.js'
import { findEquivalentOptions } from './equivalent-options.js'
import { findNearestName } from './nearest-name.js'
import { Secret } from './secret.js'
import type { Settings } from './settings.js'
import { resolveSpool, isInMemory } from './spool-settings.js'
import { describeHidden, describeType, formatValue, formatName } from './format-value.js'
import { resolveBreadcrumbs } from './breadcrumb-settings.js'
import { LEVEL_NAMES, OPTION_TABLE, rowOf, variablesOf } from './option-table.js'
import type { OptionName, OptionValues } from './option-table.js'
import { findTlsProblem } from './tls.js'
import type { Tls } from './tls.js'
import { checkUrl, isLoopback, findProxy } from './url.js'
import { LEVELS } from '../protocol/log-entry.js'

export type { IngestOptions } from './option-table.js'
export type { Settings } from './settings.js'

export interface OptionSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** For the variables that name files. */
  readonly readFile: (path: string) => string
  /** Whether a folder's file system is in memory. Default false. */
  readonly isInMemory?: (path: string) => boolean
}

export const LOCAL_URL = 'http://127.0.0.1:4319/api/v1'
/** The local service accepts any key, and the interface requires one. No other key is sent to the implicit URL, since any user may listen there. */
const LOCAL_KEY = 'local'

const MIB = 1024 * 1024

/** pino adds these to a transport's options. */
const PINOS_OWN = ['$context', 'pinoWillSendConfig', 'levels', 'dedupe']

/** 0 (debug) to 4 (fatal); -1 for trace. */
export function toThreshold(level: Settings['level']): number {
  return LEVEL_NAMES.indexOf(level) - 1
}

/**
 * Resolves with this process's environment.
 * @throws IngestError `CONFIG`, as `resolveOptions`.
 */
export function resolveFromProcess(given: unknown, names?: readonly OptionName[]): Settings {
  return resolveOptions(given, { env: process.env, readFile: (path) => readFileSync(path, 'utf8'), isInMemory }, names)
}

/**
 * @param names the options that are known here; the others have their defaults, whatever the environment contains
 * @throws IngestError `CONFIG` that names each wrong option, its rule and the value received (a secret's never).
 */
export function resolveOptions(
  given: unknown,
  sources: OptionSources,
  names: readonly OptionName[] = Object.keys(OPTION_TABLE) as OptionName[],
): Settings {
  const problems: string[] = []
  const options = givenOptions(given, names, problems)
  const values: Partial<Record<OptionName, unknown>> = {}
  const wrong = new Set<OptionName>()
  for (const name of Object.keys(OPTION_TABLE) as OptionName[]) {
    const before = problems.length
    const value = !names.includes(name)
      ? undefined
      : isGiven(options, name)
        ? checked(name, name, options[name], problems)
        : fromEnvironment(name, sources, problems)
    if (problems.length > before) wrong.add(name)
    values[name] = value ?? rowOf(name).default
  }
  const settings = complete({ values, options, wrong, sources, problems })
  if (problems.length > 0) {
    // Another option, whose value is shown, may contain the key by mistake.
    const mask = createSecretMask(
      [options['apiKey'], sources.env['PINO_INGEST_API_KEY']].filter((key) => isLongText(key)),
    )
    const beginning = problems.every((problem) => problem.includes(' is required'))
      ? 'pino-ingest is not configured'
      : 'invalid configuration of pino-ingest'
    throw new IngestError('CONFIG', `${beginning}: ${mask(problems.join('; '))}`)
  }
  return Object.freeze(settings)
}

/** A short key may be a word of the message. */
function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 12
}

function givenOptions(given: unknown, known: readonly OptionName[], problems: string[]): Record<string, unknown> {
  if (given === undefined) return {}
  if (!isPlainObject(given)) {
    problems.push(`options must be a plain object, got ${describeType(given)}`) // it may be the key itself
    return {}
  }
  for (const name of Object.keys(given)) {
    if ((known as readonly string[]).includes(name) || PINOS_OWN.includes(name)) continue
    const here = findEquivalentOptions(name).filter((one) => (known as readonly string[]).includes(one))
    const meant = here.length > 0 ? here.join(', ') : findNearestName(name, known)
    problems.push(`there is no option ${formatName(name)}${meant === undefined ? '' : `, did you mean ${meant}?`}`)
  }
  return given
}

/** Own properties only: `Object.prototype` may have been extended. */
function isGiven(options: Record<string, unknown>, name: OptionName): boolean {
  return Object.hasOwn(options, name) && options[name] !== undefined
}

function checked(name: OptionName, place: string, value: unknown, problems: string[]): unknown {
  const { kind, secret } = rowOf(name)
  const read = kind.read(value)
  if (read !== undefined) return read
  const problem = kind.problem?.(value)
  problems.push(
    problem === undefined
      ? `${place} must be ${kind.rule}, got ${secret === true ? describeHidden(value) : formatValue(value)}`
      : `${place}: ${problem}`,
  )
  return undefined
}

const ROOTED_PATH = /^(?:[/~.]|[a-z]:[\\/])/i

function fromEnvironment(name: OptionName, { env, readFile }: OptionSources, problems: string[]): unknown {
  const variables = variablesOf(name)
  const text = (variable: string): string | undefined => (env[variable] === '' ? undefined : env[variable])
  const file = (variable: string): string | undefined => {
    const path = text(variable)
    if (path === undefined) return undefined
    // The path may be the key itself, by mistake.
    const shownPath = name === 'apiKey' && !ROOTED_PATH.test(path) ? describeHidden(path) : path
    try {
      return readFile(path)
    } catch (error) {
      problems.push(
        `${variable} names a file that cannot be read: ${shownPath} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      )
      return undefined
    }
  }
  const parts = (names: readonly string[], read: (variable: string) => string | number | undefined): unknown => {
    const found = names
      .map((part, at) => [part, read(variables[at] ?? '')] as const)
      .filter(([, value]) => value !== undefined)
    return found.length === 0 ? undefined : checked(name, variables.join(', '), Object.fromEntries(found), problems)
  }
  if (name === 'tls') return parts(['ca', 'cert', 'key'], file)
  if (name === 'deploy') return parts(['commit', 'branch', 'deployed_by'], text)
  if (name === 'sample') return parts(LEVELS, (variable) => numberIn(text(variable)))
  if (name === 'proxy') return undefined // which variable counts depends on the URL
  if (name === 'spool') {
    const value = text('PINO_INGEST_SPOOL')
    return value === undefined ? undefined : checked(name, 'PINO_INGEST_SPOOL', rowOf(name).kind.parse(value), problems)
  }
  for (const variable of variables) {
    const value = variable.endsWith('_FILE') ? file(variable) : text(variable)
    if (value !== undefined) return checked(name, variable, rowOf(name).kind.parse(value), problems)
  }
  return undefined
}

interface Resolved {
  readonly values: Partial<Record<OptionName, unknown>>
  readonly options: Record<string, unknown>
  /** Options with an error in `problems`. */
  readonly wrong: ReadonlySet<OptionName>
  readonly sources: OptionSources
  readonly problems: string[]
}

/** Checks what depends on several values, and adds derived settings. */
function complete({
  values,
  options,
  wrong,
  sources: { env, isInMemory: isLostInMemory = () => false },
  problems,
}: Resolved): Settings {
  const own = values as OptionValues
  const isMissing = (name: OptionName): boolean => values[name] === undefined && !wrong.has(name)
  const isLocalDefault = isMissing('url')
  const isRequired = env['NODE_ENV'] === 'production' && own.enabled !== false
  if (isLocalDefault && isRequired) {
    problems.push('url is required when NODE_ENV is production (or PINO_INGEST_URL)')
  }
  if (isMissing('apiKey') && (isLocalDefault ? isRequired : own.enabled !== false)) {
    const hint = own.url !== undefined && isLoopback(own.url) ? '; for a local service any text will do' : ''
    problems.push(`apiKey is required (or PINO_INGEST_API_KEY, or PINO_INGEST_API_KEY_FILE)${hint}`)
  }
  const isSwapped = own.apiKey !== undefined && /^https?:\/\//i.test(own.apiKey)
  if (isSwapped) problems.push('apiKey must be a key and not a URL (not shown); are url and apiKey swapped?')
  const url = isSwapped ? LOCAL_URL : checkUrl(own.url ?? LOCAL_URL, own.allowInsecure === true, problems)
  if (Number(own.retryMinMs) > Number(own.retryMaxMs)) {
    problems.push(
      `retryMinMs must not be above retryMaxMs, got ${formatValue(own.retryMinMs)} and ${formatValue(own.retryMaxMs)}`,
    )
  }
  const unusable = own.tls === undefined ? undefined : findTlsProblem(own.tls as Tls)
  if (unusable !== undefined)
    problems.push(`tls must be certificates and a key that can be used, got ${unusable} (not shown)`)
  const spool = resolveSpool(
    { option: own.spool, dir: nonEmpty(env['PINO_INGEST_SPOOL_DIR']), isLocalDefault, isLostInMemory },
    problems,
  )
  const previousApiKeys = (own.previousApiKeys ?? []).map((one) => new Secret(one))
  const defined = Object.fromEntries(
    Object.entries({
      ...values,
      customLevels: own.customLevels ?? (isPlainObject(options['levels']) ? options['levels'] : undefined),
      fallbackService: nonEmpty(env['npm_package_name']),
      environment: own.environment ?? nonEmpty(env['NODE_ENV']),
      version: own.version ?? nonEmpty(env['npm_package_version']),
      deploy: own.deploy ?? findCiDeploy(env),
      url,
      isLocalDefault,
      keyWarning: isLocalDefault ? keyWarning(own, options, env) : undefined,
      apiKey: new Secret((isLocalDefault ? undefined : own.apiKey) ?? LOCAL_KEY),
      previousApiKeys: isLocalDefault ? [] : previousApiKeys,
      givenKeys: [...(own.apiKey === undefined ? [] : [new Secret(own.apiKey)]), ...previousApiKeys],
      spool,
      breadcrumbs: resolveBreadcrumbs(own.breadcrumbs),
      maxBufferBytes: own.maxBufferBytes ?? (spool === false ? 64 : 8) * MIB,
      // A proxy could not prove that it is the local service.
      proxy: isLocalDefault ? false : (own.proxy ?? (isLoopback(url) ? false : environmentProxy(url, env, problems))),
      // A proxy that is set in code is meant for this URL.
      noProxy: own.proxy === undefined ? (env['no_proxy'] ?? env['NO_PROXY'] ?? '') : '',
    }).filter(([, value]) => value !== undefined),
  )
  return defined as unknown as Settings
}

/** Without the key itself. Undefined if none was given. */
function keyWarning(
  own: OptionValues,
  options: Record<string, unknown>,
  env: OptionSources['env'],
): string | undefined {
  const given = (['apiKey', 'previousApiKeys'] as const)
    .filter((name) => own[name] !== undefined)
    .map((name) =>
      isGiven(options, name) ? name : variablesOf(name).find((variable) => nonEmpty(env[variable]) !== undefined),
    )
  if (given.length === 0) return undefined
  return APPLICATION_MESSAGES.keyWithoutUrl.text(
    `${given.join(' and ')} ${given.length === 1 ? 'is' : 'are'}`,
    LOCAL_URL,
  )
}

function environmentProxy(url: string, env: OptionSources['env'], problems: string[]): unknown {
  const proxy = findProxy(url, env)
  return proxy === undefined ? false : checked('proxy', proxy.variable, proxy.value, problems)
}

/** Text that is not a number breaks the rule, and is shown in the message. */
function numberIn(text: string | undefined): string | number | undefined {
  return text === undefined || !/^\d*\.?\d+$/.test(text) ? text : Number(text)
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
