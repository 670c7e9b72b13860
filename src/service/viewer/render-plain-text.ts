/**
 * Applies `toPlainText` to every rendered text and tooltip, because components could forget to. Values of input fields are unchanged:
 * the user edits and copies the original.
 */
import { options } from 'preact'
import { toPlainText } from './plain-text.js'

const TEXT_ATTRIBUTES = ['title', 'aria-label'] as const

/** A Preact node. For a text, `type` is not set and `props` is the text. */
interface Node {
  readonly type: unknown
  props: unknown
}

export function renderPlainText(): void {
  const before = options.vnode
  options.vnode = (vnode) => {
    toPlain(vnode as Node)
    before?.(vnode)
  }
}

function toPlain(node: Node): void {
  const { type, props } = node
  if (typeof props === 'string') {
    node.props = toPlainText(props)
    return
  }
  if (typeof type !== 'string') return
  const attributes = props as Record<string, unknown>
  for (const name of TEXT_ATTRIBUTES) {
    const value = attributes[name]
    if (typeof value === 'string') attributes[name] = toPlainText(value)
  }
}
