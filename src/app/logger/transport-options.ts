/** [main] Separates the options of this transport from those of pino, which ignores names that it does not know. */
import { suggestOptions } from '../../options/equivalent-options.js'
import { formatName } from '../../options/format-value.js'
import { OPTION_TABLE } from '../../options/option-table.js'
import type { IngestOptions } from '../../options/resolve-options.js'
import { IngestError } from '../../shared/errors.js'

/** Short names resemble each other: `session` is not `version`. */
const LONG_NAME = 8
const ALL_NAMES = Object.keys(OPTION_TABLE)
/** `enabled` is pino's. */
const NAMES = ALL_NAMES.filter((name) => name !== 'enabled')
/** Options of pino and pino-http, and of Fastify's `logger`. Other names are passed on, unless they resemble one of this transport. */
const PASSED_ON = new Set(
  (
    'base browser crlf customLevels depthLimit edgeLimit enabled errorKey formatters hooks level levelComparison levelVal messageKey mixin ' +
    'mixinMergeStrategy msgPrefix name nestedKey onChild redact safe serializers timestamp transport useOnlyCustomLevels ' +
    'autoLogging customAttributeKeys customErrorMessage customErrorObject customErroredMessage customLogLevel customProps ' +
    'customReceivedMessage customReceivedObject customSuccessMessage customSuccessObject customSuccessfulMessage genReqId logger ' +
    'quietReqLogger quietResLogger stream useLevel wrapSerializers file'
  ).split(' '),
)

/** Options of this transport that may stand beside those of pino. */
export type FlatOptions = Omit<IngestOptions, 'enabled'>

/**
 * @param transport where the options of this transport go; undefined if `logger` is set, whose transport exists already
 * @throws IngestError `CONFIG` for a name that is probably meant for this transport, and for options that would have no effect
 */
export function separateOptions<Given extends object>(
  { ...given }: Given,
  transport: unknown,
): { readonly flat: FlatOptions; readonly own: Omit<Given, keyof FlatOptions> } {
  const flat: Record<string, unknown> = {}
  const own: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const meant =
      NAMES.includes(name) || PASSED_ON.has(name)
        ? undefined
        : suggestOptions(name, ALL_NAMES, name.length < LONG_NAME ? 1 : 2)
    if (meant !== undefined)
      throw new IngestError(
        'CONFIG',
        `neither pino nor pino-ingest has an option ${formatName(name)}, did you mean ${meant}?`,
      )
    ;(NAMES.includes(name) ? flat : own)[name] = value
  }
  const names = Object.keys(flat).join(', ')
  if (names !== '' && transport === undefined)
    throw createNoEffectError(names, `with logger; set them where it is created: pino(ingestOptions({ ${names} }))`)
  if (names !== '' && transport === false)
    throw createNoEffectError(names, `with transport: false; pass them to the stream: ingestStream({ ${names} })`)
  return { flat, own: own as Omit<Given, keyof FlatOptions> }
}

/** @throws IngestError `CONFIG` */
export function checkUnused(flat: FlatOptions): void {
  const names = Object.keys(flat).join(', ')
  if (names !== '') throw createNoEffectError(names, "since transport has no target 'pino-ingest'; add one")
}

function createNoEffectError(names: string, reason: string): IngestError {
  return new IngestError('CONFIG', `${names} of ingestOptions() would have no effect ${reason}`)
}
