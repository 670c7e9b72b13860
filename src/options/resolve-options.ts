/** Resolves and validates the configuration: code wins over environment, which wins over defaults. */
import { resolve } from 'node:path'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { copyMembers, describeType } from '../shared/argument-checks.js'
import { IngestError } from '../shared/errors.js'
import { readRegularFile } from '../shared/safe-files.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { ApiKey, isUrl } from './api-key.js'
import { findStartFolder, readAppPackage } from './app-package.js'
import type { AppPackage } from './app-package.js'
import { findCiDeploy } from './ci.js'
import { isPlainObject } from './kinds.js'
import { suggestOptions } from './equivalent-options.js'
import { describeUnknownVariables } from './known-variables.js'
import { findSecretParts } from './nats-credentials.js'
import { resolveNats } from './nats-settings.js'
import type { NatsOption } from './nats-settings.js'
import { nonEmpty, readResource } from './resource.js'
import { Secret } from './secret.js'
import type { Settings } from './settings.js'
import { resolveSpool, isInMemory } from './spool-settings.js'
import type { SpoolOption } from './spool-settings.js'
import { formatName } from './format-value.js'
import { OptionReader, addDefaults } from './option-reader.js'
import type { ReaderSources } from './option-reader.js'
import { LEVEL_NAMES, OPTION_TABLE, findRow, listVariables } from './option-table.js'
import type { OptionName, OptionValues } from './option-table.js'
import { checkTls } from './tls.js'
import type { Tls } from './tls.js'
import { checkUrl, findProxy, isRemote } from './url.js'

export type { IngestOptions } from './options-interface.js'
export type { Settings } from './settings.js'

export interface OptionSources extends ReaderSources {
  /** Whether a folder's file system is in memory. Default false. */
  readonly isInMemory?: (path: string) => boolean
  /** Whether a missing URL is an error. Default: in production; elsewhere a transport then discards its entries. */
  readonly requiresUrl?: boolean
  /** The application's own package. Default: none. */
  readonly readAppPackage?: () => AppPackage
}

/** In place of a URL that is missing or wrong: no request can reach it. @see RFC 6761, section 6.4 */
const NO_URL = 'http://no-url.invalid'
/** Sent to a service on loopback if no key is set, since the interface requires one. */
const LOCAL_KEY = 'local'

const MIB = 1024 * 1024
/** 21,000 entries a second if the service needs 150 ms. More connections would take the application's file descriptors. */
const CONCURRENCY = 32
/** More batches in flight do not make JetStream faster: one node was measured with 8 to 128. */
const NATS_CONCURRENCY = 8

/** pino adds these to a transport's options. */
const PINOS_OWN = ['$context', 'pinoWillSendConfig', 'levels', 'dedupe']

/** 0 (debug) to 4 (fatal); -1 for trace. */
export function toThreshold(level: Settings['sendLevel']): number {
  return LEVEL_NAMES.indexOf(level) - 1
}

/** This process's environment, and the files that its variables name. */
export function readProcessSources(): OptionSources {
  const folder = findStartFolder()
  return {
    env: process.env,
    readFile: (path) => readRegularFile(resolve(folder, path)),
    isInMemory: (path) => isInMemory(resolve(folder, path)),
  }
}

/**
 * Resolves with this process's environment, and the application's package.
 * @param names see `resolveOptions`; with `url` among them, a URL is required
 * @throws IngestError `CONFIG`, as `resolveOptions`.
 */
export function resolveFromProcess(given: unknown, names?: readonly OptionName[]): Settings {
  const own = names === undefined ? { readAppPackage } : { requiresUrl: names.includes('url') }
  return resolveOptions(given, { ...readProcessSources(), ...own }, names)
}

/**
 * @param names the options that are known here; the others have their defaults, whatever the environment contains
 * @throws IngestError `CONFIG` that lists each invalid option, its rule and the value received (a secret's never).
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
  const reader = new OptionReader(sources, problems)
  for (const name of Object.keys(OPTION_TABLE) as OptionName[]) {
    const before = problems.length
    const row = findRow(name)
    const value = names.includes(name)
      ? reader.read(row, name, { inCode: isGiven(options, name) ? { place: name, value: options[name] } : undefined })
      : undefined
    if (problems.length > before) wrong.add(name)
    values[name] = addDefaults(row, value)
  }
  const variableWarning = describeUnknownVariables(sources.env)
  const settings = {
    ...complete({ values, options, wrong, sources, problems, reader }),
    ...(variableWarning && { variableWarning }),
  }
  if (problems.length > 0) {
    // Another option, whose value is shown, may contain the key by mistake.
    const mask = createSecretMask(
      [options['apiKey'], sources.env['PINO_INGEST_API_KEY']].filter((key) => isLongText(key)),
    )
    const beginning = problems.every((problem) => problem.includes(' is required'))
      ? 'pino-ingest is not configured'
      : 'invalid configuration of pino-ingest'
    throw new IngestError('CONFIG', `${beginning}: ${mask([...problems, variableWarning ?? []].flat().join('; '))}`)
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
  const members = copyMembers(given)
  if (typeof members === 'string') {
    problems.push(`options ${members}`)
    return {}
  }
  // pino copies the characters of a text, or the items of a list, into an object.
  if (Object.hasOwn(members, '0')) {
    problems.push('options must be a plain object, got a text or a list (not shown)')
    return {}
  }
  for (const name of Object.keys(members)) {
    if ((known as readonly string[]).includes(name) || PINOS_OWN.includes(name)) continue
    const meant = suggestOptions(name, known)
    problems.push(`there is no option ${formatName(name)}${meant === undefined ? '' : `, did you mean ${meant}?`}`)
  }
  return members
}

/** Own properties only: `Object.prototype` may have been extended. */
function isGiven(options: Record<string, unknown>, name: OptionName): boolean {
  return Object.hasOwn(options, name) && options[name] !== undefined
}

interface Resolved {
  readonly values: Partial<Record<OptionName, unknown>>
  readonly options: Record<string, unknown>
  /** Options with an error in `problems`. */
  readonly wrong: ReadonlySet<OptionName>
  readonly sources: OptionSources
  readonly problems: string[]
  readonly reader: OptionReader
}

/** Checks what depends on several values, and adds derived settings. */
function complete({
  values,
  options,
  wrong,
  sources: {
    env,
    readFile,
    requiresUrl,
    isInMemory: isLostInMemory = () => false,
    readAppPackage: readApp = () => ({}),
  },
  problems,
  reader,
}: Resolved): Settings {
  const own = values as OptionValues
  const isMissing = (name: OptionName): boolean => values[name] === undefined && !wrong.has(name)
  const nats = resolveNats(own.nats as NatsOption | undefined, own.allowInsecure === true, problems)
  // A wrong `nats` must not be answered by a request for a URL.
  const hasNats = nats !== undefined || wrong.has('nats')
  const usesUrl = !hasNats && !isMissing('url')
  const isEnabled = own.enabled !== false
  const isRequired = !hasNats && (requiresUrl ?? (env['NODE_ENV'] === 'production' && isEnabled))
  if (isRequired && !usesUrl) problems.push('url is required (or PINO_INGEST_URL)')
  if (isMissing('apiKey') && (usesUrl ? isEnabled && isRemote(own.url ?? '') : isRequired))
    problems.push('apiKey is required (or PINO_INGEST_API_KEY, or PINO_INGEST_API_KEY_FILE)')
  const isSwapped = own.apiKey !== undefined && isUrl(own.apiKey)
  if (isSwapped) problems.push('apiKey must be a key and not a URL (not shown); are url and apiKey swapped?')
  const urlName = isGiven(options, 'url') ? 'url' : 'PINO_INGEST_URL'
  const url =
    own.url === undefined || isSwapped ? NO_URL : checkUrl(own.url, own.allowInsecure === true, problems, urlName)
  if (!wrong.has('tls')) checkTls('tls', own.tls as Tls | undefined, problems)
  const spool = resolveSpool({ option: own.spool as SpoolOption, isLostInMemory }, problems)
  const { enabled: hasBreadcrumbs, ...breadcrumbs } = own.breadcrumbs ?? {}
  if (nats !== undefined && own.registerRelease === true)
    problems.push('registerRelease needs url and apiKey, which are not used with nats; set releaseId')
  const keyFile = usesUrl ? findKeyFile(options, env) : undefined
  const resource = readResource(env)
  const service = own.service ?? resource.service
  const version = own.version ?? resource.version
  const app = service === undefined || version === undefined ? readApp() : {}
  const headers = Object.fromEntries(
    Object.entries(own.headers ?? {}).map(([name, value]) => [name, new Secret(value as string)]),
  )
  const previousApiKeys = (own.previousApiKeys ?? []).map((one) => new Secret(one))
  // With nats it is sent nowhere, and separates the entries on disk of one account from those of another.
  const apiKey = new ApiKey(
    (usesUrl ? own.apiKey : nats?.identity) ?? LOCAL_KEY,
    keyFile === undefined ? undefined : () => readFile(keyFile),
  )
  const secrets = [
    ...(own.apiKey === undefined ? [] : [new Secret(own.apiKey)]),
    ...previousApiKeys,
    ...Object.values(headers),
    ...(nats?.credentials === undefined
      ? []
      : findSecretParts(nats.credentials.reveal()).map((one) => new Secret(one))),
  ]
  apiKey.changed.on((changed) => void secrets.push(new Secret(changed)))
  const defined = Object.fromEntries(
    Object.entries({
      ...values,
      pino: {
        ...(isPlainObject(options['levels']) && { customLevels: options['levels'] }),
        ...own.pino,
      },
      fallbackService: app.name,
      service,
      environment: own.environment ?? resource.environment ?? nonEmpty(env['NODE_ENV']),
      version: version ?? app.version,
      metadata: { ...resource.metadata, ...own.metadata },
      deploy: own.deploy ?? findCiDeploy(env),
      nats,
      url: nats?.destination ?? url,
      enabled: isEnabled && (usesUrl || hasNats),
      warning: !isEnabled || usesUrl ? undefined : describeUnused(own, options, env, nats !== undefined),
      apiKey,
      previousApiKeys: usesUrl ? previousApiKeys : [],
      headers: usesUrl ? headers : {},
      secrets,
      spool,
      logTo: own.logTo === 'silent' ? 'silent' : 'stderr',
      // Also for calls, which do not know `logTo`.
      isDebug: (options['logTo'] ?? env['PINO_INGEST_LOG_TO']) === 'debug' || undefined,
      breadcrumbs: hasBreadcrumbs === true && breadcrumbs,
      maxConcurrency: own.maxConcurrency ?? (hasNats ? NATS_CONCURRENCY : CONCURRENCY),
      maxBufferBytes: own.maxBufferBytes ?? (spool === false ? 64 : 8) * MIB,
      proxy: !usesUrl ? false : (own.proxy ?? environmentProxy(url, env, reader)),
    }).filter(([, value]) => value !== undefined),
  )
  return defined as unknown as Settings
}

/** That there is no URL, or a key that is not used, without the key itself. */
function describeUnused(
  own: OptionValues,
  options: Record<string, unknown>,
  env: OptionSources['env'],
  hasNats: boolean,
): string | undefined {
  if (!hasNats) return APPLICATION_MESSAGES.urlMissing.text()
  const given = (['apiKey', 'previousApiKeys', 'headers'] as const)
    .filter((name) => own[name] !== undefined)
    .map((name) => findPlace(name, options, env))
  if (given.length === 0) return undefined
  const names = `${given.join(' and ')} ${given.length === 1 ? 'is' : 'are'}`
  return APPLICATION_MESSAGES.keyWithNats.text(names)
}

/** Undefined if the key is not from a file. */
function findKeyFile(options: Record<string, unknown>, env: OptionSources['env']): string | undefined {
  const place = findPlace('apiKey', options, env)
  return place?.endsWith('_FILE') === true ? env[place] : undefined
}

/** The option or the variable that sets it. Undefined if it is not set. */
function findPlace(name: OptionName, options: Record<string, unknown>, env: OptionSources['env']): string | undefined {
  return isGiven(options, name) ? name : listVariables(name).find((variable) => nonEmpty(env[variable]) !== undefined)
}

function environmentProxy(url: string, env: OptionSources['env'], reader: OptionReader): unknown {
  const proxy = findProxy(url, env)
  return proxy === undefined ? false : reader.check(findRow('proxy'), proxy.variable, proxy.value)
}
