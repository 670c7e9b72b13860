/** A link to all entries that share a logged value. */
import type { ComponentChildren } from 'preact'
import { createHref } from '../view.js'
import type { FilterName, Filters } from '../view.js'
import { isFilterable } from './fact.js'

interface EntriesLinkProps {
  readonly name: FilterName
  readonly value: string
  /** Filters that are kept. */
  readonly others?: Filters
  readonly class?: string
  /** Tooltip: `All entries of this request`. */
  readonly title: string
  readonly children: ComponentChildren
}

export function EntriesLink({ name, value, others = {}, class: className, title, children }: EntriesLinkProps) {
  if (!isFilterable(value)) return <span class={className}>{children}</span>
  return (
    <a class={className} href={createHref({ name: 'entries', filters: { ...others, [name]: value } })} title={title}>
      {children}
    </a>
  )
}
