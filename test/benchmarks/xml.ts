/**
 * The subset of XML that a chart needs: checks that it is well-formed, and returns attributes and texts. Throws if it
 * is not.
 */

export interface Xml {
  readonly attributes: readonly { readonly tag: string; readonly name: string; readonly value: string }[]
  /** Unescaped, in document order. */
  readonly texts: readonly string[]
}

const TOKEN = /<(\/?)([a-zA-Z]+)((?:\s+[a-zA-Z][\w:-]*="[^"<]*")*)\s*(\/?)>|([^<]+)/y
const ATTRIBUTE = /([a-zA-Z][\w:-]*)="([^"]*)"/g
const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
])

export function readXml(xml: string): Xml {
  const attributes: { tag: string; name: string; value: string }[] = []
  const texts: string[] = []
  const open: string[] = []
  let at = 0
  while (at < xml.length) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(xml)
    if (token === null) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 60)}`)
    at = TOKEN.lastIndex
    const [, closes, tag, members, isEmpty, text] = token
    if (text !== undefined) {
      texts.push(unescaped(text))
      continue
    }
    if (closes === '/') {
      if (open.pop() !== tag) throw new Error(`</${tag}> closes nothing that is open`)
      continue
    }
    if (open.length === 0 && at !== token[0].length) throw new Error('a second root')
    for (const [, name = '', value = ''] of (members ?? '').matchAll(ATTRIBUTE))
      attributes.push({ tag: tag as string, name, value: unescaped(value) })
    if (isEmpty !== '/') open.push(tag as string)
  }
  if (open.length > 0) throw new Error(`left open: ${open.join(', ')}`)
  return { attributes, texts }
}

function unescaped(text: string): string {
  if (/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text))
    throw new Error(`a character that XML does not know: ${JSON.stringify(text)}`)
  return text.replaceAll(/&[^;]*;?/g, (entity) => {
    const character = ENTITIES.get(entity)
    if (character === undefined) throw new Error(`no such entity: ${entity}`)
    return character
  })
}
