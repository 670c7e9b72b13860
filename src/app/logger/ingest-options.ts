/** [main] Completes the application's pino options: scope fields on each record, whole errors, checked transport options. */
import type { LoggerOptions, TransportMultiOptions, TransportSingleOptions } from 'pino'
import { passStartToWorkers } from '../../options/app-package.js'
import { isPlainObject } from '../../options/kinds.js'
import { requireNats } from '../../nats/require-nats.js'
import { OPTION_TABLE } from '../../options/option-table.js'
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
import { checkUnused, separateOptions } from './transport-options.js'
import type { FlatOptions } from './transport-options.js'

/**
 * pino's options, those of this transport except `enabled`, and those of pino-http. `transport: false` means that a stream is passed to
 * `pino()`.
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
 * - this transport, unless `transport` is set, with its own options such as `url`, `apiKey`, `service` and `sendLevel`. `enabled` is
 *   pino's; for that of the transport, set it in `transport: { target: 'pino-ingest', options: { enabled } }`; these options override
 *   those next to pino's. In `targets` it receives all that pino logs, unless its target has a `level`; with `dedupe: true` of pino's
 *   targets set the target's `level`. With `transport: false` no transport, for
 *   `pino(ingestOptions({ transport: false }), ingestStream(options))`,
 * - `ingestMixin()` around its mixin,
 * - an Error under any key written with type, message, stack, causes and properties, where pino writes `{}`; the app's own
 *   `serializers.err` is used if it has one. A member that cannot be read becomes `[unreadable]`,
 * - for pino-http and nestjs-pino `customLogLevel`, by the status: 5xx and errors are logged as error, 4xx as warn. An own
 *   `customLogLevel` or `useLevel` is kept. pino and Fastify ignore it. With pino-http's `logger`, only options that apply to its child logger are added.
 *
 * Its own serializers, formatters and mixin still apply. The argument is not changed.
 *
 * @throws IngestError `CONFIG` lists each option of this transport that is missing or invalid, also within `transport`. It is also thrown for
 * an option without effect because no transport is created here, and for a mixin, serializer, formatter or `hooks.logMethod` that is not a
 * function.
 * @see https://getpino.io/#/docs/api?id=options
 * @example
 * const logger = pino(ingestOptions({ level: 'debug', service: 'checkout' }))
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

/** The options that change names in a record. pino does not pass all of them to transports, and pino-http none. */
const NAMING_OPTIONS = ['messageKey', 'errorKey', 'nestedKey', 'customLevels', 'customAttributeKeys'] as const
const ATTRIBUTES = OPTION_TABLE.pino.kind.members?.['customAttributeKeys']?.kind.members ?? {}

/** Of a target: below each level that an application may define. */
const ALL_LEVELS = 0

type OwnOptions = WorkerOptions & Pick<LoggerOptions, 'nestedKey'> & HttpLoggerOptions

/** Checks the options of this transport wherever it is used, and adds those of pino that change names in a record. */
function checkedTransport(transport: AppTransport, flat: FlatOptions, own: OwnOptions, call: LogCall): AppTransport {
  // pino takes null for undefined, and pino-http ignores unknown attributes.
  const attributes = Object.entries(own.customAttributeKeys ?? {}).filter(([name]) => Object.hasOwn(ATTRIBUTES, name))
  const named = { ...own, customAttributeKeys: own.customAttributeKeys && Object.fromEntries(attributes) }
  const naming = Object.fromEntries(
    NAMING_OPTIONS.map((name) => [name, named[name]]).filter(([, value]) => value !== undefined && value !== null),
  )
  checkArgument('transport of ingestOptions()', "pino's transport options or false", isObject(transport), transport)
  // The worker has its own environment, which is unknown here.
  const isElsewhere = (transport as TransportSingleOptions).worker?.env !== undefined
  let settings: Settings | undefined
  let isUsed = false
  const all = mapTargets(transport, (target) => {
    if (!isOurs(target.target)) return target
    isUsed = true
    const options = completeOptions(target.options, flat, naming)
    checkCanCross((options as IngestOptions | undefined)?.beforeSend)
    settings = isElsewhere ? undefined : resolveFromProcess(options)
    if (settings !== undefined) requireNats(settings)
    if (typeof settings?.beforeSend === 'string') checkHookExists(settings.beforeSend, settings.secrets)
    return {
      ...target,
      options,
      ...(target.target === OUR_NAME && { target: findOwnPath() ?? OUR_NAME }),
    }
  })
  if (!isUsed) {
    checkUnused(flat)
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
  // pino's default is `info`, with which debug records would not reach this transport. A single target gets all without a level.
  const given = listed('transport.targets', transport.targets)
  const isLevelled = given.length > 1 && transport.dedupe !== true
  const targets = given.map((one) => {
    const members = 'pipeline' in one ? listed('pipeline in transport.targets', one.pipeline) : [one]
    const level = one.level ?? (isLevelled && members.some(({ target }) => isOurs(target)) ? ALL_LEVELS : undefined)
    const changed = 'pipeline' in one ? { ...one, pipeline: members.map(change) } : change(one)
    return level === undefined ? changed : { ...changed, level }
  })
  return { ...transport, targets } as TransportMultiOptions
}

/** Options of the target itself win. Invalid ones are returned unchanged, so the check reports them. */
function completeOptions(
  options: unknown = {},
  flat: FlatOptions,
  naming: NonNullable<IngestOptions['pino']>,
): unknown {
  if (!isPlainObject(options)) return options
  const { pino = {} } = options
  const isNamed = isPlainObject(pino) && Object.keys(naming).length > 0
  return { ...flat, ...options, ...(isNamed && { pino: { ...naming, ...pino } }) }
}

function isOurs(target: unknown): boolean {
  return (
    target === OUR_NAME ||
    (target !== undefined && target === findOwnPath()) ||
    (typeof target === 'string' && OUR_FILE.test(target))
  )
}
