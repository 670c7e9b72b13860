/** [main] Completes the application's pino options: scope fields on each record, whole errors, checked transport options. */
import type { LoggerOptions, TransportMultiOptions, TransportSingleOptions } from 'pino'
import { passStartToWorkers } from '../../options/app-package.js'
import { isPlainObject } from '../../options/kinds.js'
import { requireNats } from '../../nats/require-nats.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { IngestOptions } from '../../options/resolve-options.js'
import type { Settings } from '../../options/settings.js'
import { checkCanCross, checkHookExists } from '../../filter/load-hook.js'
import { checkArgument, copyMembers, isFunction, isObject, readOptions } from '../../shared/argument-checks.js'
import { IngestError } from '../../shared/errors.js'
import { copyPlain, findOriginal, isError, readMembers } from '../../record/error-serializer.js'
import { createIngestMixin, mergeMixin } from './ingest-mixin.js'
import { createLogMethod } from './log-method.js'
import type { LogCall } from './log-method.js'
import { keepWorkersReachable } from './logger-streams.js'
import { findOwnPath } from './own-path.js'
import { readSerializers } from './pino-symbols.js'
import type { Serializers } from './pino-symbols.js'
import { findResponseLevel } from './response-level.js'
import type { HttpLoggerOptions } from './response-level.js'
import { superviseTransport } from './supervised-transport.js'
import type { AppTransport, WorkerOptions } from './supervised-transport.js'
import { refuseUnused, separateOptions } from './transport-options.js'
import type { FlatOptions } from './transport-options.js'

/**
 * pino's options, those of this transport except `level` and `enabled`, and those of pino-http. `transport: false` means that a stream is
 * passed to `pino()`.
 */
export type IngestLoggerOptions<
  CustomLevels extends string = never,
  UseOnlyCustomLevels extends boolean = boolean,
> = Omit<LoggerOptions<CustomLevels, UseOnlyCustomLevels>, 'transport'> & {
  /** pino's `transport`. Default `{ target: 'pino-ingest' }`; `false` for a stream that is passed to `pino()`. */
  transport?: AppTransport | false | undefined
} & FlatOptions &
  HttpLoggerOptions

const OUR_NAME = 'pino-ingest'
/** Name of the function in pino-std-serializers, which is not loaded here. */
const PINO_SERIALIZER = 'errSerializer'
/**
 * Path of this package's file, as returned by `require.resolve` or `import.meta.resolve`, for applications in which
 * pino would not find the name.
 */
const OUR_FILE = /[\\/]pino-ingest[\\/]dist[\\/](?:esm|cjs)[\\/]index\.js$/

/**
 * Options for `pino(ingestOptions({ level: 'debug', service: 'checkout' }))`: the application's options with
 *
 * - this transport, unless `transport` is set, with its own options such as `url`, `apiKey` and `service`. `level` and `enabled` are
 *   pino's; set those of the transport in `transport: { target: 'pino-ingest', options: { level } }`, where options win over those
 *   beside pino's. With `transport: false` no transport, for `pino(ingestOptions({ transport: false }), ingestStream(options))`,
 * - `ingestMixin()` around its mixin,
 * - an Error under any key written with type, message, stack, causes and properties, where pino writes `{}`; the app's own
 *   `serializers.err` is used if it has one. A member that cannot be read becomes `[unreadable]`,
 * - for pino-http and nestjs-pino `customLogLevel`, by the status: 5xx and errors are logged as error, 4xx as warn. An own
 *   `customLogLevel` or `useLevel` is kept. pino and Fastify ignore it. With pino-http's `logger`, only options that apply to its child logger are added.
 *
 * Its own serializers, formatters and mixin still apply. The argument is not changed.
 *
 * @throws IngestError `CONFIG` that lists each option of this transport that is missing or invalid, anywhere in `transport`; for one that
 * would have no effect, since no transport is created here; and for a mixin, serializer, formatter or `hooks.logMethod` that is not a function, for which pino itself would throw only at the first record.
 * @see https://getpino.io/#/docs/api?id=options
 */
export function ingestOptions<CustomLevels extends string = never, UseOnlyCustomLevels extends boolean = boolean>(
  options: IngestLoggerOptions<CustomLevels, UseOnlyCustomLevels> = {},
): LoggerOptions<CustomLevels, UseOnlyCustomLevels> {
  const given = readOptions('ingestOptions()', options) as typeof options
  const isChild = given.logger !== undefined
  const { transport = isChild ? false : { target: OUR_NAME }, ...others } = given
  const { flat, own } = separateOptions(others, isChild ? given.transport : transport)
  checkFunctions('serializers', own.serializers)
  checkFunctions('formatters', own.formatters)
  const appHook = own.hooks?.logMethod ?? undefined
  checkArgument(
    'hooks.logMethod of ingestOptions()',
    'a function',
    appHook === undefined || isFunction(appHook),
    appHook,
  )
  const inherited = readSerializers(isChild ? given.logger : undefined)
  const appSerializer = own.serializers?.['err'] ?? findOwnSerializer(inherited['err'])
  const serialize = createErrorSerializer(appSerializer)
  // With `logger`, pino-http logs with a child of that logger, which was created without these options.
  const call: LogCall = { logger: given.logger, level: 0, serialize, onNewStream: keepWorkersReachable }
  return {
    ...own,
    ...(transport !== false && {
      transport: checkedTransport(transport, flat, own as OwnOptions, call),
    }),
    ...(own.customLogLevel === undefined && own.useLevel === undefined && { customLogLevel: findResponseLevel }),
    mixin: createIngestMixin(own.mixin, own.customAttributeKeys?.res ?? 'res'),
    mixinMergeStrategy: own.mixinMergeStrategy ?? mergeMixin,
    serializers: {
      // With this `errorKey`, pino itself would use the application's `err`.
      ...(inherited['error'] === undefined && { error: serialize }),
      ...own.serializers,
      err: serialize,
    },
    // The formatters of a child logger would replace those of its parent.
    ...((!isChild || own.formatters !== undefined) && {
      formatters: { ...own.formatters, log: createErrorFormatter(appSerializer, own, call) },
    }),
    hooks: { ...own.hooks, logMethod: createLogMethod(appHook, call) },
  }
}

function checkFunctions(name: string, functions: object | undefined): void {
  const members = functions === undefined ? {} : copyMembers(functions)
  if (typeof members === 'string') throw new IngestError('CONFIG', `${name} of ingestOptions() ${members}`)
  for (const [key, value] of Object.entries(members))
    checkArgument(`${name}.${key} of ingestOptions()`, 'a function', value === undefined || isFunction(value), value)
}

type Serializer = (value: unknown) => unknown

/**
 * The serializer of pino-http's logger, for the error itself. pino-http passes the result of pino's own serializer, which is also the
 * default of a logger, and which reduces causes to text.
 */
function findOwnSerializer(serialize: Serializer | undefined): Serializer | undefined {
  if (serialize === undefined || serialize.name === PINO_SERIALIZER) return undefined
  return (value) => serialize(findOriginal(value))
}

/** Serializer for error keys, which may also have a list of errors, or the result of a promise. */
function createErrorSerializer(appSerializer: Serializer | undefined): Serializer {
  return (value) => {
    const isWritten = appSerializer !== undefined && !isError(value)
    return copyPlain(isWritten ? appSerializer(value) : findOriginal(value), appSerializer)
  }
}

type Formatter = (record: Record<string, unknown>) => Record<string, unknown>

/**
 * Copies all values of a record as plain data, since pino looks up serializers by key, and an Error may be under any
 * key. Skips values with a serializer, because pino calls the serializers, including those of a child logger, afterwards.
 */
function createErrorFormatter(
  serialize: Serializer | undefined,
  { formatters, serializers = {}, errorKey = 'err' }: Pick<LoggerOptions, 'formatters' | 'serializers' | 'errorKey'>,
  call: LogCall,
): Formatter {
  // Frameworks add serializers for requests and responses.
  const served = new Set([...Object.keys(serializers), 'err', 'error', errorKey, 'req', 'res'])
  const format = formatters?.log
  return (given) => {
    const isCopy = format === undefined && given === call.fields
    const record = isCopy ? given : (readMembers(format === undefined ? given : format(given)) ?? {})
    let current: Serializers | undefined
    for (const key in record) {
      const value = record[key]
      if (typeof value !== 'object' || value === null || served.has(key) || !Object.hasOwn(record, key)) continue
      current ??= readSerializers(call.logger)
      if (current[key]) continue
      record[key] = copyPlain(value, serialize)
    }
    return record
  }
}

type KnownKeys = Pick<NonNullable<IngestOptions['pino']>, 'nestedKey' | 'levelKey'>

/** Keys of a record that pino does not pass to transports. */
function findKeys({ nestedKey, formatters }: Pick<LoggerOptions, 'nestedKey' | 'formatters'>): KnownKeys {
  const levelKey = findLevelKey(formatters?.level)
  return { ...(nestedKey !== undefined && { nestedKey }), ...(levelKey !== undefined && { levelKey }) }
}

/** Keys of the level that need no option. */
const LEVEL_KEYS = ['level', 'severity']
const [LABEL, NUMBER] = ['info', 30] as const

/** The key under which the application's formatter writes the level, if it is not one of `LEVEL_KEYS`. */
function findLevelKey(format: ((label: string, number: number) => object) | undefined): string | undefined {
  if (format === undefined) return undefined
  try {
    const written = Object.entries(format(LABEL, NUMBER) as Record<string, unknown>)
    if (written.some(([key]) => LEVEL_KEYS.includes(key))) return undefined
    return written.find(([, value]) => value === NUMBER || String(value).toLowerCase().startsWith(LABEL))?.[0]
  } catch {
    return undefined // pino reports the error
  }
}

type OwnOptions = WorkerOptions & Pick<LoggerOptions, 'nestedKey' | 'formatters'> & HttpLoggerOptions

/** Checks the options of this transport wherever it is used, and adds keys that it does not get from pino. */
function checkedTransport(transport: AppTransport, flat: FlatOptions, own: OwnOptions, call: LogCall): AppTransport {
  const keys = findKeys(own)
  const requestKeys = own.customAttributeKeys
  checkArgument('transport of ingestOptions()', "pino's transport options or false", isObject(transport), transport)
  // The worker has its own environment, which is unknown here.
  const isElsewhere = (transport as TransportSingleOptions).worker?.env !== undefined
  let settings: Settings | undefined
  let isUsed = false
  const all = mapTargets(transport, (target) => {
    if (!isOurs(target.target)) return target
    isUsed = true
    const options = mergeFlatOptions(target.options, flat)
    let completed = Object.keys(keys).length === 0 ? options : addKeys(options, keys)
    checkCanCross((options as IngestOptions | undefined)?.beforeSend)
    settings = isElsewhere ? undefined : resolveFromProcess(completed)
    if (settings !== undefined) requireNats(settings)
    if (typeof settings?.beforeSend === 'string') checkHookExists(settings.beforeSend, settings.secrets)
    if (requestKeys !== undefined) completed = addRequestKeys(completed, requestKeys, settings)
    return {
      ...target,
      ...(completed !== target.options && { options: completed }),
      ...(target.target === OUR_NAME && { target: findOwnPath() ?? OUR_NAME }),
    }
  })
  if (!isUsed) {
    refuseUnused(flat)
    return all
  }
  passStartToWorkers()
  return superviseTransport(all, own, call, settings, isOurs)
}

type ChangeTarget = <Target extends { readonly target?: unknown; readonly options?: unknown }>(target: Target) => Target

function mapTargets(transport: AppTransport, change: ChangeTarget): AppTransport {
  const listed = <Item extends object>(name: string, list: readonly Item[]): readonly Item[] => {
    checkArgument(`${name} of ingestOptions()`, 'a list', Array.isArray(list), list)
    for (const item of list) checkArgument(`each of ${name} of ingestOptions()`, 'an object', isObject(item), item)
    return list
  }
  if ('target' in transport) return change(transport)
  if ('pipeline' in transport)
    return { ...transport, pipeline: listed('transport.pipeline', transport.pipeline).map(change) }
  if (transport.targets === undefined) return transport // pino reports the error
  const targets = listed('transport.targets', transport.targets).map((one) =>
    'pipeline' in one
      ? { ...one, pipeline: listed('pipeline in transport.targets', one.pipeline).map(change) }
      : change(one),
  )
  return { ...transport, targets } as TransportMultiOptions
}

/** Options of the target itself win. Invalid ones are returned unchanged, so the check reports them. */
function mergeFlatOptions(options: unknown, flat: FlatOptions): unknown {
  if (Object.keys(flat).length === 0) return options
  return options === undefined || isPlainObject(options) ? { ...flat, ...options } : options
}

/** @returns the options with the keys; invalid options unchanged, so the check reports them */
function addKeys(options: unknown = {}, keys: KnownKeys): unknown {
  if (!isPlainObject(options)) return options
  const { pino = {} } = options
  if (!isPlainObject(pino)) return options
  const given = Object.entries(pino).filter(([, value]) => value !== undefined)
  return { ...options, pino: { ...keys, ...Object.fromEntries(given) } }
}

const REQUEST_KEYS = ['req', 'res', 'responseTime', 'reqId'] as const

/** Adds pino-http's names. They do not turn on request logs: `enabled` is taken from the options or the environment. */
function addRequestKeys(
  options: unknown,
  names: NonNullable<HttpLoggerOptions['customAttributeKeys']>,
  settings: Settings | undefined,
): object {
  const { requestLogs } = (options ?? {}) as IngestOptions
  const own = typeof requestLogs === 'object' ? requestLogs : {}
  const enabled = settings?.requestLogs.enabled ?? (typeof requestLogs === 'object' || requestLogs === true)
  const given = Object.fromEntries(REQUEST_KEYS.filter((key) => names[key]).map((key) => [key, names[key]]))
  return { ...(options as object | undefined), requestLogs: { enabled, ...own, keys: { ...given, ...own.keys } } }
}

function isOurs(target: unknown): boolean {
  return (
    target === OUR_NAME ||
    (target !== undefined && target === findOwnPath()) ||
    (typeof target === 'string' && OUR_FILE.test(target))
  )
}
