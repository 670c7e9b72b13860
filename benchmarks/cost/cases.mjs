/** The variations. Each axis has a plain case, and the other cases are shown relative to it. */

/**
 * @typedef {(typeof AXES)[number]} Axis
 * @typedef {{ axis: Axis, series: string, label: string, x: number, recipe: import('./records.mjs').Recipe, options: Record<string, unknown>,
 *   hasKernel: boolean, needsDir: boolean, isPlain: boolean }} Case
 *   `options` of the transport; `needsDir`: the spool is on
 */

const MIB = 1024 * 1024
const PATTERNS = ['email', 'creditCard', 'ssn', 'bearer']
/** Relative to this file in the result, without a path of the machine. */
const HOOK = './before-send.mjs'

/** @type {readonly { label: string, options: Record<string, unknown>, hasKernel?: boolean, isSpooled?: boolean, shapes?: readonly string[] }[]} */
const OPTIONS = [
  { label: 'the defaults', options: {} },
  { label: 'without the kernel', options: {}, hasKernel: false },
  { label: 'spool off', options: { spool: false }, isSpooled: false },
  { label: 'durability: power', options: { spool: { durability: 'power' } } },
  // Waiting entries are evicted to disk and read back.
  { label: 'above maxBufferBytes', options: { maxBufferBytes: MIB } },
  { label: 'breadcrumbs off', options: { breadcrumbs: false } },
  { label: 'scrub.patterns, all four', options: { scrub: { patterns: PATTERNS } } },
  { label: 'fingerprint', options: { fingerprint: true } },
  { label: 'dedupeWindowMs', options: { dedupeWindowMs: 1_000 } },
  { label: 'sample, a half', options: { sample: { info: 0.5, error: 0.5 } } },
  { label: 'beforeSend', options: { beforeSend: HOOK } },
  { label: 'requestLogs', options: { requestLogs: true } },
  { label: 'requestLogs: only', options: { requestLogs: { only: true } }, shapes: ['http'] },
]

export const AXES = /** @type {const} */ (['size', 'width', 'depth', 'breadcrumbs', 'options'])

/** @type {readonly Case[]} */
export const CASES = [
  ...sizes('message', 'latin', [100, 1_000, 16_000, 64_000]),
  ...sizes('message', 'cyrillic', [100, 16_000]),
  ...sizes('value', 'latin', [100, 16_000, 64_000]),
  // Every line has five more keys.
  ...[5, 20, 60, 65, 500].map((keys) => of('width', 'keys', keys, { kind: 'width', keys }, keys === 5)),
  ...[1, 5, 20].map((levels) => of('depth', 'levels', levels, { kind: 'depth', levels }, levels === 1)),
  ...[100, 10].flatMap((oneErrorIn) =>
    [0, 50].map((perError) =>
      of(
        'breadcrumbs',
        `one error in ${oneErrorIn}`,
        perError,
        { kind: 'breadcrumbs', perError, oneErrorIn },
        perError === 0,
      ),
    ),
  ),
  .../** @type {const} */ (['http', 'error']).flatMap((shape) =>
    OPTIONS.filter(({ shapes }) => shapes?.includes(shape) ?? true).map(
      ({ label, options, hasKernel = true, isSpooled = true }, at) =>
        /** @type {Case} */ ({
          axis: 'options',
          series: shape,
          label,
          x: at,
          recipe: { kind: 'shape', shape },
          options,
          hasKernel,
          needsDir: isSpooled,
          isPlain: at === 0,
        }),
    ),
  ),
]

/** @param {'message' | 'value'} kind @param {'latin' | 'cyrillic'} text @param {readonly number[]} all */
function sizes(kind, text, all) {
  const series = `${kind === 'message' ? 'message' : 'metadata value'}${text === 'latin' ? '' : ', Cyrillic'}`
  return all.map((chars) => of('size', series, chars, { kind, chars, text }, chars === all[0]))
}

/** @param {Axis} axis @param {string} series @param {number} x @param {import('./records.mjs').Recipe} recipe @param {boolean} isPlain @returns {Case} */
function of(axis, series, x, recipe, isPlain) {
  return { axis, series, label: String(x), x, recipe, options: {}, hasKernel: true, needsDir: true, isPlain }
}
