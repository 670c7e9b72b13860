/** Formats a wrong value for a message: recognizable, on one line, short, and without a password. */
import { cut, describeType } from '../shared/argument-checks.js'

export function formatValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return cut(JSON.stringify(withoutUserinfo(value)))
    case 'function':
      return 'a function'
    case 'object':
      return value === null ? 'null' : cut(withoutUserinfo(formatJson(value)))
    default:
      return cut(String(value))
  }
}

/** As `formatValue`, with backslashes as they were typed. */
export function formatTypedText(text: string): string {
  return formatValue(text).replaceAll('\\\\', '\\')
}

/** Describes a secret: enough to find the mistake, and no part of its value. */
export function describeHidden(value: unknown): string {
  if (value === '') return 'an empty text'
  if (typeof value === 'string') {
    const lines = value.trim().split(/\r\n|[\n\r]/).length
    const [count, unit] = lines > 1 ? [lines, 'lines'] : [value.length, value.length === 1 ? 'character' : 'characters']
    const hint = lines === 1 && /\s/.test(value) ? ' with white space' : ''
    return `text of ${count} ${unit}${hint} (not shown)`
  }
  return typeof value === 'object' ? `${describeType(value)} (not shown)` : `a ${typeof value} (not shown)`
}

/** The name of an unknown option may be any text. */
export function formatName(name: string): string {
  return /^[\w$.-]{1,40}$/.test(name) ? name : cut(JSON.stringify(name))
}

/** Removes `user:password@` from URLs. */
function withoutUserinfo(text: string): string {
  return text.replace(/(\/\/)[^/\s"]*@/g, '$1…@')
}

function formatJson(value: object): string {
  const name = describeType(value)
  try {
    const json: unknown = JSON.stringify(value)
    return typeof json !== 'string' ? name : name.startsWith('an instance') ? `${name}: ${json}` : json
  } catch {
    return name // a cycle, or a BigInt
  }
}
