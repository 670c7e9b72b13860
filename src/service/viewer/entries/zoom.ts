/** Zooming in to a range of time, so that Escape goes back. */
import { navigate, zoomOrigins } from '../use-view.js'
import type { Filter } from '../view.js'

export function zoomIn({ last, since, until }: Filter, range: Partial<Filter>): void {
  navigate(range, { origins: [...zoomOrigins(), { last, since, until }] })
}

/** Any other choice of a time ends the way back. */
export function canZoomOut(): boolean {
  return zoomOrigins().length > 0
}

export function zoomOut(): void {
  navigate(zoomOrigins().at(-1) ?? {}, { origins: zoomOrigins().slice(0, -1) })
}
