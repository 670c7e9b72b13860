/** The layout of a view: heading, filter, content; of a list with a button for more items. */
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import type { Page } from '../../store/stored-record.js'
import type { Parameters } from '../api.js'
import { useCommands } from '../commands.js'
import { Problem } from '../components.js'
import { Copy } from '../detail/notice.js'
import { formatStartLine } from '../shell/connect.js'
import { formatTitle } from '../shell/header.js'
import { useQuery } from '../use-query.js'
import { readView, useView } from '../use-view.js'
import { formatCount } from '../view-format.js'

interface ViewPageProps {
  /** Default: the name of the view, for screen readers. */
  readonly title?: string
  readonly about?: ComponentChildren
  readonly tools?: ComponentChildren
  /** Shown even if the list is empty, because the user may need to change it. */
  readonly filter?: ComponentChildren
  readonly children: ComponentChildren
}

export function ViewPage({ title, about, tools, filter, children }: ViewPageProps) {
  const { name } = useView()
  const page = useRef<HTMLDivElement>(null)
  useListKeys(page)
  return (
    <div class="page" ref={page}>
      {filter}
      <div class="page-head">
        <h1 class={title === undefined ? 'visually-hidden' : undefined}>{title ?? formatTitle(name)}</h1>
        {about !== undefined && <p class="muted">{about}</p>}
        {tools !== undefined && <div class="page-tools toolbar">{tools}</div>}
      </div>
      {children}
    </div>
  )
}

/** The keys for the next and the previous row move the focus, and update an open detail. The link or button of a row has `data-line`. */
function useListKeys(list: RefObject<HTMLElement | null>): void {
  const step = (by: 1 | -1) => {
    const lines = [...(list.current?.querySelectorAll<HTMLElement>('[data-line]') ?? [])]
    const at = lines.findIndex((line) => line === document.activeElement)
    const next = lines[at === -1 ? 0 : at + by]
    if (next === undefined) return
    next.focus()
    if (readView().entry !== null && next instanceof HTMLAnchorElement) next.click()
  }
  useCommands({ next: () => step(1), previous: () => step(-1) })
}

interface LoadedProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: Error | undefined }
  readonly children: (data: T) => ComponentChildren
}

export function Loaded<T>({ query: { data, error }, children }: LoadedProps<T>) {
  return (
    <>
      <Problem error={error} />
      {error === undefined && data === undefined && <p class="muted">Loading …</p>}
      {data !== undefined && children(data)}
    </>
  )
}

const FIRST = 50
const STEP = 150
/** Maximum number of items per request, and thus of a view. */
const MAX = 1_000

interface List<T> {
  readonly data: readonly T[] | undefined
  readonly error: Error | undefined
  /** Shows more items; null if there are no more. */
  readonly more: (() => void) | null
  readonly isCut: boolean
}

/** Loads a list that grows on demand and stays up to date. Loads it as one page, which makes all rows consistent. */
export function useList<T>(path: string, parameters: Parameters, version: unknown): List<T> {
  const [limit, setLimit] = useState(FIRST)
  const { last, since } = useView()
  // A moving start of a sliding window must not reset the length of the list.
  const key = JSON.stringify({ ...parameters, since: last ?? since })
  useEffect(() => setLimit(FIRST), [path, key])
  const { data, error } = useQuery<Page<T>>(path, { ...parameters, limit }, version)
  const hasMore = data !== undefined && data.next !== null
  return {
    data: data?.items,
    error,
    more: hasMore && limit < MAX ? () => setLimit(Math.min(MAX, limit + STEP)) : null,
    isCut: hasMore && limit >= MAX,
  }
}

interface ListPageProps<T> extends Omit<ViewPageProps, 'children'> {
  readonly list: List<T>
  readonly empty: ComponentChildren
  readonly children: (items: readonly T[]) => ComponentChildren
}

export function ListPage<T>({ about, list, empty, children, ...page }: ListPageProps<T>) {
  const count = list.data?.length ?? 0
  return (
    <ViewPage {...page} about={count === 0 ? undefined : about}>
      <Loaded query={list}>{(items) => (items.length === 0 ? empty : children(items))}</Loaded>
      {list.more !== null && (
        <p class="list-more">
          <button type="button" class="button" onClick={list.more}>
            Show more
          </button>
        </p>
      )}
      {list.isCut && (
        <p class="list-more muted">
          These are the first {formatCount(count)}. The others can be had from the JSON API.
        </p>
      )}
    </ViewPage>
  )
}

export function Snippet({ code }: { readonly code: string }) {
  return (
    <div class="snippet">
      <pre class="code" tabIndex={0} aria-label="Code">
        {code}
      </pre>
      <Copy label="Copy" text={() => code} />
    </div>
  )
}

/** Shows how to set this service's URL for the code above. */
export function StartHint() {
  const { data } = useQuery<ServiceStatus>('status')
  if (data === undefined) return null
  return (
    <>
      <p>Start the application with the address of this service:</p>
      <Snippet code={formatStartLine(data)} />
    </>
  )
}
