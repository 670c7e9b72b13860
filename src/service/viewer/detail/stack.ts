/** Parses a logged stack into errors and frames, maps their places and folds them (pure). Unknown lines remain text. */
import type { SourcePosition } from '../../query/api-types.js'

/** `own`: the application's; `package`: below `node_modules`; `runtime`: Node's, Deno's, Bun's, and built-in functions. */
export type FrameOrigin = 'own' | 'package' | 'runtime'

export interface StackFrame {
  readonly kind: 'frame'
  /** Function name; null if the stack has none, as at a module's top level. */
  readonly fn: string | null
  /** For example `node:fs`, `/app/src/a.js`, `native`; without `file://`. */
  readonly file: string
  readonly line: number | null
  readonly column: number | null
  readonly isAsync: boolean
  readonly origin: FrameOrigin
  /** For example `express`, `@scope/name`. */
  readonly packageName: string | null
  /** The logged frame, if a source map has mapped it. */
  readonly compiled?: StackFrame
  readonly lines?: SourcePosition['lines']
}

export interface StackText {
  readonly kind: 'text'
  readonly text: string
}

export interface StackPart {
  /** Relation to the previous error: `caused by`, `error 2 of 3`. Null for the first error. */
  readonly label: string | null
  /** Type and all lines of the message: `TypeError: no price`. */
  readonly title: string
  readonly items: readonly (StackFrame | StackText)[]
}

export interface Stack {
  readonly parts: readonly StackPart[]
  /** Whether only the raw text has all lines. */
  readonly isCut: boolean
}

const MAX_LINES = 1_000
/** Longer lines are not frames. Limits the time of the regular expressions. */
const MAX_FRAME_CHARS = 1_000
const MAX_TITLE_CHARS = 10_000

/** pino and the transport write the first and the last, `util.inspect` writes the second. */
const LABEL = /^(?:caused by|\[cause\]|(error \d+ of \d+)): ?/i
/** `util.inspect` writes the properties of an error in braces after its last frame. */
const BRACES = /^[\s{}[\],]*$/

export function parseStack(stack: string): Stack {
  const lines = stack.split('\n', MAX_LINES + 1)
  const isCut = lines.length > MAX_LINES
  const parts: StackPart[] = []
  let label: string | null = null
  let title: string[] = []
  let items: (StackFrame | StackText)[] = []
  const close = () => {
    if (title.length > 0 || items.length > 0) {
      parts.push({ label, title: title.join('\n').trim().slice(0, MAX_TITLE_CHARS), items })
    }
    title = []
    items = []
  }
  for (const line of isCut ? lines.slice(0, MAX_LINES) : lines) {
    const text = line.trim()
    const next = labelOf(text)
    if (next !== undefined) {
      close()
      label = next.label
      title = [next.rest]
      continue
    }
    const frame = parseFrame(line)
    if (frame !== undefined) items.push(frame)
    else if (items.length === 0) title.push(line)
    else if (!BRACES.test(text)) items.push({ kind: 'text', text: line })
  }
  close()
  return { parts, isCut }
}

function labelOf(text: string): { label: string; rest: string } | undefined {
  const found = LABEL.exec(text)
  return found === null ? undefined : { label: found[1] ?? 'caused by', rest: text.slice(found[0].length) }
}

const AT = /^\s*at (async )?(.+?)(?: \{)?$/
const PLACE = /^(.*?):(\d+)(?::(\d+))?$/

/** Parses one line of a V8 stack (https://v8.dev/docs/stack-trace-api). */
export function parseFrame(line: string): StackFrame | undefined {
  if (line.length > MAX_FRAME_CHARS) return undefined
  const found = AT.exec(line)
  if (found === null) return undefined
  const { fn, place } = splitPlace(found[2] ?? '')
  const isAsync = found[1] !== undefined
  const at = PLACE.exec(place)
  const file = plainFile(at?.[1] ?? place)
  return {
    kind: 'frame',
    fn,
    file,
    isAsync,
    line: at === null ? null : Number(at[2]),
    column: at?.[3] === undefined ? null : Number(at[3]),
    ...readOrigin(file),
  }
}

function readOrigin(file: string): Pick<StackFrame, 'origin' | 'packageName'> {
  const packageName = packageOf(file)
  return { packageName, origin: packageName !== null ? 'package' : isRuntime(file) ? 'runtime' : 'own' }
}

/** Splits `fn (location)` or a location alone. The location of an `eval` contains parentheses itself. */
function splitPlace(text: string): { fn: string | null; place: string } {
  if (!text.endsWith(')')) return { fn: null, place: text }
  let depth = 0
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1
    else if (text[at] === '(') depth -= 1
    if (depth > 0) continue
    const place = text.slice(at + 1, -1)
    const evaluated = /^eval at .*?\(((?:[a-z]:)?[^()]*:\d+:\d+)\)/i.exec(place)
    return { fn: text.slice(0, at).trim() || null, place: evaluated?.[1] ?? place }
  }
  return { fn: null, place: text }
}

function plainFile(place: string): string {
  if (!place.startsWith('file://')) return place
  const path = decode(place.slice('file://'.length))
  return /^\/[a-z]:/i.test(path) ? path.slice(1) : path
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Not a URL of Node, which encodes the percent sign.
    return path
  }
}

const MODULES = 'node_modules'

/** Returns the last package in the path, because package managers nest packages. */
function packageOf(file: string): string | null {
  const at = file.replaceAll('\\', '/').lastIndexOf(`/${MODULES}/`)
  if (at === -1) return null
  const [first = '', second = ''] = file.slice(at + MODULES.length + 2).split(/[\\/]/, 2)
  return first.startsWith('@') ? `${first}/${second}` : first
}

/** Whether the frame is of the runtime. Built-in functions have no file: `<anonymous>`, `native`, `index 0` of `Promise.all`. */
function isRuntime(file: string): boolean {
  return /^(?:node|ext|bun|internal)[:/]|^(?:native|unknown|<anonymous>|index \d+)$|^wasm:/.test(file)
}

export interface FoldedFrames {
  readonly kind: 'folded'
  /** `12 frames in express, qs`, `3 frames in Node`. */
  readonly text: string
  readonly frames: readonly StackFrame[]
}

export type StackItem = StackPart['items'][number]

/** Replaces adjacent frames outside of the application by one item. */
export function foldFrames(items: readonly StackItem[]): readonly (StackItem | FoldedFrames)[] {
  const folded: (StackItem | FoldedFrames)[] = []
  let run: StackFrame[] = []
  const close = () => {
    if (run.length > 0) folded.push({ kind: 'folded', text: describe(run), frames: run })
    run = []
  }
  for (const item of items) {
    if (item.kind === 'frame' && item.origin !== 'own') {
      run.push(item)
      continue
    }
    close()
    folded.push(item)
  }
  close()
  return folded
}

const MAX_NAMES = 3

function describe(frames: readonly StackFrame[]): string {
  const names = [...new Set(frames.map(nameOf))]
  const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names
  return `${frames.length} ${frames.length === 1 ? 'frame' : 'frames'} in ${shown.join(', ')}`
}

function nameOf({ origin, packageName, file }: StackFrame): string {
  if (packageName !== null) return packageName
  return origin === 'runtime' && file.startsWith('node:') ? 'Node' : 'the runtime'
}

export function formatLocation({ file, line, column }: StackFrame): string {
  return [file, line, column].filter((part) => part !== null).join(':')
}

export function isInTitle(title: string, type: string | undefined, message: string | undefined): boolean {
  const full = [type, message].filter((part) => part !== undefined && part !== '').join(': ')
  return title === '' || full.startsWith(title) || title === message || title === type
}

/** As the service; more frames keep their compiled place. */
const MAX_LOCATIONS = 100

/**
 * Lists locations for `POST /local/source-positions`: those of compiled files, and first the application's first frame, for its lines. Frames
 * of packages stay folded, and TypeScript is not compiled.
 */
export function listLocations({ parts }: Stack): readonly string[] {
  const frames = parts.flatMap(({ items }) => items.filter((item) => item.kind === 'frame'))
  const own = frames.filter(
    ({ file, column, origin }) => origin === 'own' && column !== null && /^(?:\/|[a-z]:).*\.[cm]?[jt]sx?$/i.test(file),
  )
  const asked = own.filter(({ file }, index) => index === 0 || /js$/i.test(file))
  return [...new Set(asked.map(formatLocation))].slice(0, MAX_LOCATIONS)
}

/** @param originals by compiled place */
export function mapStack(stack: Stack, originals: ReadonlyMap<string, SourcePosition | null>): Stack {
  const parts = stack.parts.map(({ items, ...part }) => ({
    ...part,
    items: items.map((item) => {
      const original = item.kind === 'frame' ? originals.get(formatLocation(item)) : null
      if (item.kind !== 'frame' || original === undefined || original === null) return item
      const { name: _name, ...place } = original
      const compiled = place.file !== item.file && { compiled: item }
      return { ...item, ...place, ...readOrigin(place.file), ...compiled }
    }),
  }))
  return { ...stack, parts }
}
