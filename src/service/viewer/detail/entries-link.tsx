/** A link to all entries with the same value. An id replaces the filter, other values are added to it. */
import type { ComponentChildren } from 'preact'
import { addTerm } from '../../query/language/index.js'
import { useView } from '../use-view.js'
import { NO_FILTER, changeView, createHref } from '../view.js'
import { isFilterable } from './fact.js'

interface EntriesLinkProps {
  /** A field of the query language. */
  readonly name: string
  readonly value: string
  readonly class?: string
  /** Tooltip: `All entries of this request`. What happens to the filter is added. */
  readonly title: string
  /** Whether the value is an id, whose entries are all shown. */
  readonly isId?: boolean
  readonly children: ComponentChildren
}

export function EntriesLink({ name, value, class: className, title, isId = false, children }: EntriesLinkProps) {
  const view = useView()
  if (!isFilterable(value)) return <span class={className}>{children}</span>
  const { q: kept, ...time } = isId ? NO_FILTER : view
  const change = { name: 'entries', q: addTerm(kept, name, value), ...(isId && time) } as const
  return (
    <a
      class={className}
      data-filter={isId ? 'replaced' : undefined}
      href={createHref(changeView(view, change))}
      title={`${title}. ${isId ? 'Replaces the filter' : 'Added to the filter'}`}
    >
      {children}
    </a>
  )
}
