/** A link to all entries with the same value. It keeps the current filter. */
import type { ComponentChildren } from 'preact'
import { addTerm } from '../../query/language/index.js'
import { useView } from '../use-view.js'
import { changeView, createHref } from '../view.js'
import { isFilterable } from './fact.js'

interface EntriesLinkProps {
  /** A field of the query language; null for a search in all texts. */
  readonly name: string | null
  readonly value: string
  readonly class?: string
  /** Tooltip: `All entries of this request`. */
  readonly title: string
  readonly children: ComponentChildren
}

export function EntriesLink({ name, value, class: className, title, children }: EntriesLinkProps) {
  const view = useView()
  if (!isFilterable(value)) return <span class={className}>{children}</span>
  const q = name === null ? `${view.q} ${JSON.stringify(value)}`.trim() : addTerm(view.q, name, value)
  return (
    <a class={className} href={createHref(changeView(view, { name: 'entries', q }))} title={title}>
      {children}
    </a>
  )
}
