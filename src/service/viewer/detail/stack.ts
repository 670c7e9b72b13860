/** Parses a logged stack into errors and frames (pure). Unknown lines remain text. */

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
}

export interface StackText {
  readonly kind: 'text'
  readonly text: string
}

/** One error in the chain. */
export interface StackPart {
  /** Relation to the previous error: `caused by`, `error 2 of 3`. Null for the first error. */
  readonly label: string | null
  /** Type and all lines of the message: `TypeError: no price`. */
  readonly title: string
  readonly items: readonly (StackFrame | StackText)[]
}

export interface Stack {
  readonly parts: readonly StackPart[]
  /** Number of lines beyond the limit; only the raw text has them. */
  readonly linesLeftOut: number
}

const MAX_LINES = 1_000
/** Longer lines are not frames. Limits the time of the regular expressions. */
const MAX_FRAME_CHARS = 1_000
const MAX_TITLE_CHARS = 10_000

/** pino and the transport write the first three, `util.inspect` writes the fourth. */
const PART_LABELS = [/^caused by: ?/i, /^(error \d+ of \d+): ?/, /^Caused by: ?/, /^\[(cause)\]: ?/]
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
  return { parts, linesLeftOut: isCut ? countLines(stack) - MAX_LINES : 0 }
}

function labelOf(text: string): { label: string; rest: string } | undefined {
  for (const form of PART_LABELS) {
    const found = form.exec(text)
    if (found === null) continue
    const label = found[1]
    return { label: label === undefined || label === 'cause' ? 'caused by' : label, rest: text.slice(found[0].length) }
  }
  return undefined
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
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

export function readOrigin(file: string): Pick<StackFrame, 'origin' | 'packageName'> {
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
