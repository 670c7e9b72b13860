/** `findOwnMessage` on raw JSON text, which usually needs no decoding. */
import { CAUSE_LABEL, CAUSE_SEPARATOR, chooseMessage, findMessages, findOwnMessage } from '../reference/entry-error.js'

const BACKSLASH = 92
const LABEL = `\\n${CAUSE_LABEL}`
const FIRST_FRAME = '\\n    at '
/** Text with such an escape is not compared raw, because the same character may also be unescaped. */
const UNICODE_ESCAPE = '\\u'

/**
 * Returns the quoted message without the messages of causes that pino appended.
 *
 * @param message quoted
 * @param stack without its closing quote
 */
export function removeCauses(message: string, stack: string): string {
  if (!message.includes(CAUSE_SEPARATOR)) return message
  const causes = stack.indexOf(LABEL)
  if (causes === -1) return message
  const frames = stack.indexOf(FIRST_FRAME)
  if (frames !== -1 && frames < causes && stack.charCodeAt(causes - 1) !== BACKSLASH) {
    const head = stack.slice(1, frames)
    const isComparable = !head.includes(UNICODE_ESCAPE) && !message.includes(UNICODE_ESCAPE)
    const own = isComparable ? chooseMessage(message.slice(1, -1), findMessages(head)) : undefined
    if (own !== undefined) return `"${own}"`
  }
  return JSON.stringify(findOwnMessage(JSON.parse(message) as string, JSON.parse(`${stack}"`) as string))
}
