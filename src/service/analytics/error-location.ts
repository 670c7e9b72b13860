/** Where an error was thrown, read from its stack as V8 writes it (pure). */

/** What is beyond is not looked at: frames of one's own stand in front, and a stack may be of any length. */
const MAX_STACK = 16_384
const MAX_LINE = 1000
const MAX_PLACE = 300

interface Frame {
  /** Empty for a function without a name. */
  readonly name: string
  readonly file: string
  readonly line: string
}

/**
 * The first frame of the application's own, else the first of all: function and file. The line is left out, so that
 * an edit above it does not make another failure of it, but where the function has no name to know it by.
 */
export function findErrorLocation(stack: string | undefined): string | undefined {
  if (stack === undefined) return undefined
  let first: Frame | undefined
  for (let from = 0, end = 0; end !== -1 && from < MAX_STACK; from = end + 1) {
    end = stack.indexOf('\n', from)
    const frame = frameOf(stack.slice(from, end === -1 ? from + MAX_LINE : Math.min(end, from + MAX_LINE)))
    if (frame === undefined) continue
    if (isOwn(frame.file)) return placeOfFrame(frame)
    first ??= frame
  }
  return first && placeOfFrame(first)
}

const AT = /^\s*at (?:async )?(?:new )?/
/** `file:line:column` at the end of a location. */
const POSITION = /:(\d+)(?::\d+)?$/
/** V8's names for what has none: the top level of a module, and functions that were not named. */
const NAMELESS = /^(?:Object\.|Module\.|Function\.)?(?:<anonymous>|anonymous)?$/

function frameOf(text: string): Frame | undefined {
  const at = AT.exec(text)?.[0]
  if (at === undefined) return undefined
  const rest = text.slice(at.length).trimEnd()
  const open = rest.endsWith(')') ? rest.indexOf(' (') : -1
  const location = open === -1 ? rest : rest.slice(open + 2, -1)
  const position = POSITION.exec(location)
  // Code made at run time has no file; the frame that made it comes next.
  if (position === null || location.startsWith('eval at ')) return undefined
  const name = open === -1 ? '' : rest.slice(0, open).replace(/ \[as [^\]]*\]$/, '')
  const file = fileOf(location.slice(0, position.index))
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

/** Part of a path that differs from one release or build to the next: a number, a date, a hash. */
const PART_VALUE = /^[\d._-]+$|^[\da-f]{7,}$|^[\da-f]{8}-[\da-f-]{27}$/i
const CONTENT_HASH = /[.-](?=[a-z]*\d)[\da-z]{8,}(?=\.\w+$)/i

function fileOf(location: string): string {
  const path = location
    .replace(/^file:\/\/\/?(?=[a-z]:|\/)/i, '')
    .replace(/\?.*$/, '')
    .replaceAll('\\', '/')
  return path
    .split('/')
    .map((part) => (PART_VALUE.test(part) ? '*' : part.replace(CONTENT_HASH, '.*')))
    .join('/')
}

function placeOfFrame({ name, file, line }: Frame): string {
  return (name === '' ? `${file}:${line}` : `${name} ${file}`).slice(-MAX_PLACE)
}
