/** Uses the address bar as the only state of the page. */
import { Observable } from './observable.js'
import { useObservable } from './use-observable.js'
import { changeView, createHref, parseView, pickFilter } from './view.js'
import type { Filter, View } from './view.js'

const current = new Observable<View>(parseView(location.search))

export function useView(): View {
  return useObservable(current)
}

export function readView(): View {
  return current.value
}

/** Times, or whole filters, from which the user came to the current one, stored in the history entry. */
export function readOrigins(): readonly Partial<Filter>[] {
  return (history.state as readonly Partial<Filter>[] | null) ?? []
}

interface NavigateOptions {
  /** Replaces the history entry. Otherwise Back would undo a search letter by letter. */
  readonly replace?: boolean
  /** Default: the current origins while the time is unchanged. */
  readonly origins?: readonly Partial<Filter>[]
}

export function navigate(change: Partial<View>, { replace = false, origins }: NavigateOptions = {}): void {
  go(createHref(changeView(current.value, change)), replace, origins)
}

function go(href: string, replace: boolean, origins?: readonly Partial<Filter>[]): void {
  if (href === `${location.pathname}${location.search}`) return
  const { last, since, until } = current.value
  const next = parseView(href.slice(1))
  const isSameTime = next.last === last && next.since === since && next.until === until
  const state = origins ?? (isSameTime ? readOrigins() : null)
  if (replace) history.replaceState(state, '', href)
  else history.pushState(state, '', href)
  current.set(next)
}

/** Handles clicks on the page's own links. The browser handles clicks with a modifier key. */
export function followLinks(): void {
  addEventListener('popstate', () => current.set(parseView(location.search)))
  addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== location.origin || link.pathname !== '/' || link.hash !== '') return
    event.preventDefault()
    // Escape returns from entries of an id.
    const isOfId = link.dataset['filter'] === 'replaced'
    go(`/${link.search}`, false, isOfId ? [...readOrigins(), pickFilter(current.value)] : undefined)
  })
}
