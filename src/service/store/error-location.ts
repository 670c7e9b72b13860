/** Finds the location of an error in the application from its V8 stack (pure). */

/** Maximum number of characters to parse. A stack can have any length, and the application's frames come first. */
const MAX_STACK = 16_384
const MAX_LINE = 1000
const MAX_LOCATION = 300

interface Frame {
  /** Function name; empty for an anonymous function. */
  readonly name: string
  readonly file: string
  readonly line: string
}

/**
 * Function and file of the application's first frame, or of the first frame if none is the application's. The line number is
 * included only for anonymous functions: otherwise an edit above the function would change the fingerprint.
 */
export function findErrorLocation(stack: string | undefined): string | undefined {
  if (stack === undefined) return undefined
  let first: Frame | undefined
  for (let from = 0, end = 0; end !== -1 && from < MAX_STACK; from = end + 1) {
    end = stack.indexOf('\n', from)
    const frame = parseFrame(stack.slice(from, end === -1 ? from + MAX_LINE : Math.min(end, from + MAX_LINE)))
    if (frame === undefined) continue
    if (isOwn(frame.file)) return formatLocation(frame)
    first ??= frame
  }
  return first && formatLocation(first)
}

const AT = /^\s*at (?:async )?(?:new )?/
/** `file:line:column` at the end of a location. */
const POSITION = /:(\d+)(?::\d+)?$/
/** V8's names for a module's top level and for anonymous functions. */
const NAMELESS = /^(?:Object\.|Module\.|Function\.)?(?:<anonymous>|anonymous)?$/

function parseFrame(text: string): Frame | undefined {
  const at = AT.exec(text)?.[0]
  if (at === undefined) return undefined
  const rest = text.slice(at.length).trimEnd()
  const open = rest.endsWith(')') ? rest.indexOf(' (') : -1
  const location = open === -1 ? rest : rest.slice(open + 2, -1)
  const position = POSITION.exec(location)
  // Code created by eval has no file; the next frame is its creator.
  if (position === null || location.startsWith('eval at ')) return undefined
  const name = open === -1 ? '' : rest.slice(0, open).replace(/ \[as [^\]]*\]$/, '')
  const file = normalizeFile(location.slice(0, position.index))
  return { name: NAMELESS.test(name) ? '' : name, file, line: position[1] ?? '' }
}

function isOwn(file: string): boolean {
  return (
    !file.startsWith('node:') &&
    !file.startsWith('internal/') &&
    !/(?:^|\/)node_modules\//.test(file) &&
    file !== '<anonymous>'
  )
}

/** Path segment that differs between releases or builds: a number, a date, a hash. */
const PART_VALUE = /^[\d._-]+$|^[\da-f]{7,}$|^[\da-f]{8}-[\da-f-]{27}$/i
const CONTENT_HASH = /[.-](?=[a-z]*\d)[\da-z]{8,}(?=\.\w+$)/i

function normalizeFile(location: string): string {
  const path = location
    .replace(/^file:\/\/\/?(?=[a-z]:|\/)/i, '')
    .replace(/\?.*$/, '')
    .replaceAll('\\', '/')
  return path
    .split('/')
    .map((part) => (PART_VALUE.test(part) ? '*' : part.replace(CONTENT_HASH, '.*')))
    .join('/')
}

function formatLocation({ name, file, line }: Frame): string {
  return (name === '' ? `${file}:${line}` : `${name} ${file}`).slice(-MAX_LOCATION)
}
