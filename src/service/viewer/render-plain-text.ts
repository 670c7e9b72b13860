/**
 * Applies `plainText` to every text and tooltip that is rendered, so that no component can forget it. Values of fields are unchanged:
 * what is edited or copied is the original.
 */
import { options } from 'preact'
import { plainText } from './plain-text.js'

const TEXT_ATTRIBUTES = ['title', 'aria-label'] as const

/** Preact passes text as a node without a type, whose `props` is the text. */
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
    node.props = plainText(props)
    return
  }
  if (typeof type !== 'string') return
  const attributes = props as Record<string, unknown>
  for (const name of TEXT_ATTRIBUTES) {
    const value = attributes[name]
    if (typeof value === 'string') attributes[name] = plainText(value)
  }
}
