/**
 * Parses JSON text to nodes that show details hidden by JSON.parse: duplicate keys and the digits of a number.
 * Written to check the mapper, so it shares no code with it. Without recursion, since a line may be nested 20,000
 * levels deep.
 */

export type JsonNode = ObjectNode | ArrayNode | TextNode | NumberNode | WordNode

export interface ObjectNode {
  readonly kind: 'object'
  /** All members in the order of the text; a duplicate key occurs several times. */
  readonly members: [key: string, value: JsonNode][]
}

export interface ArrayNode {
  readonly kind: 'array'
  readonly items: JsonNode[]
}

export interface TextNode {
  readonly kind: 'text'
  readonly value: string
}

export interface NumberNode {
  readonly kind: 'number'
  readonly literal: string
}

export interface WordNode {
  readonly kind: 'word'
  readonly value: boolean | null
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r\n]*/y
const WORDS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

/** `undefined` if the text is not JSON. */
export function parseNodes(json: string): JsonNode | undefined {
  try {
    JSON.parse(json)
  } catch {
    return undefined
  }
  return readNodes(json)
}

/** Requires valid JSON. */
function readNodes(json: string): JsonNode {
  const open: (ObjectNode | ArrayNode)[] = []
  let at = skipSpace(json, 0)
  let key = ''
  for (;;) {
    let node: JsonNode
    const first = json.charAt(at)
    if (first === '{' || first === '[') {
      node = first === '{' ? { kind: 'object', members: [] } : { kind: 'array', items: [] }
      at += 1
    } else if (first === '"') {
      const end = quoteEnd(json, at)
      node = { kind: 'text', value: JSON.parse(json.slice(at, end)) as string }
      at = end
    } else {
      const word = WORDS.find(([text]) => json.startsWith(text, at))
      if (word === undefined) {
        NUMBER.lastIndex = at
        const literal = NUMBER.exec(json)?.[0] as string
        node = { kind: 'number', literal }
        at += literal.length
      } else {
        node = { kind: 'word', value: word[1] }
        at += word[0].length
      }
    }
    const parent = open.at(-1)
    if (parent?.kind === 'object') parent.members.push([key, node])
    else parent?.items.push(node)
    if (node.kind === 'object' || node.kind === 'array') open.push(node)
    // Close the containers that end here; then a value follows, or the text ends.
    for (;;) {
      at = skipSpace(json, at)
      const around = open.at(-1)
      if (around === undefined) return node
      const code = json.charAt(at)
      if (code === '}' || code === ']') {
        node = open.pop() as JsonNode
        at += 1
        continue
      }
      if (code === ',') at = skipSpace(json, at + 1)
      if (around.kind === 'object') {
        const end = quoteEnd(json, at)
        key = JSON.parse(json.slice(at, end)) as string
        at = skipSpace(json, skipSpace(json, end) + 1)
      }
      break
    }
  }
}

function skipSpace(json: string, at: number): number {
  SPACE.lastIndex = at
  return at + (SPACE.exec(json)?.[0].length ?? 0)
}

/** The position after the string whose opening quote is at `at`. */
function quoteEnd(json: string, at: number): number {
  let i = at + 1
  for (let code = json.charAt(i); code !== '"'; code = json.charAt(i)) i += code === '\\' ? 2 : 1
  return i + 1
}
