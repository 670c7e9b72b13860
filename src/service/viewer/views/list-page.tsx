/** The layout of a list view: heading, instructions if it is empty, and a button for more items. */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { formatCount } from '../view-format.js'
import { Problem } from '../components.js'
import { useListKeys } from './use-list-keys.js'
import type { List } from './use-list.js'

interface ListPageProps<T> {
  readonly title: string
  /** A line below the title that describes the list. */
  readonly about?: ComponentChildren
  readonly tools?: ComponentChildren
  readonly filter?: ComponentChildren
  readonly list: List<T>
  readonly empty: ComponentChildren
  readonly children: (items: readonly T[]) => ComponentChildren
}

export function ListPage<T>({
  title,
  about,
  tools,
  filter,
  list: { items, error, more, isCut },
  empty,
  children,
}: ListPageProps<T>) {
  const hasItems = items !== undefined && items.length > 0
  return (
    <ViewPage title={title} filter={filter} {...(hasItems && { about, tools })}>
      <Problem error={error} />
      {error === undefined && items === undefined && <p class="muted">Loading …</p>}
      {items?.length === 0 && empty}
      {hasItems && children(items)}
      {more !== null && (
        <p class="list-more">
          <button type="button" class="button" onClick={more}>
            Show more
          </button>
        </p>
      )}
      {isCut && (
        <p class="list-more muted">
          These are the first {formatCount(items?.length ?? 0)}. The others can be had from the JSON API.
        </p>
      )}
    </ViewPage>
  )
}

export function ViewPage({
  title,
  about,
  tools,
  filter,
  children,
}: {
  readonly title: string
  readonly about?: ComponentChildren
  readonly tools?: ComponentChildren
  /** The filter. Shown even if the list is empty, because the user may need to change it. */
  readonly filter?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const page = useRef<HTMLDivElement>(null)
  useListKeys(page)
  return (
    <div class="page" ref={page}>
      <div class="page-head">
        <h1>{title}</h1>
        {about !== undefined && <p class="muted">{about}</p>}
        {tools !== undefined && <div class="page-tools">{tools}</div>}
      </div>
      {filter}
      {children}
    </div>
  )
}
