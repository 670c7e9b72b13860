/** The address bar as the only state of the page. */
import { Observable } from './observable.js'
import { useObservable } from './use-observable.js'
import { changedView, createHref, parseView } from './view.js'
import type { View } from './view.js'

const current = new Observable<View>(parseView(location.search))

export function useView(): View {
  return useObservable(current)
}

export function currentView(): View {
  return current.value
}

/** `replace` adds no step to the history, so that Back does not undo a search letter by letter. */
export function navigate(change: Partial<View>, { replace = false }: { replace?: boolean } = {}): void {
  go(createHref(changedView(current.value, change)), replace)
}

function go(href: string, replace: boolean): void {
  if (href === `${location.pathname}${location.search}`) return
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  current.set(parseView(location.search))
}

/** Handles clicks on the page's own links. Clicks with a modifier key are left to the browser. */
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
    go(`/${link.search}`, false)
  })
}
