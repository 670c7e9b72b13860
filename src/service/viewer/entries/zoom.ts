/** Zooms in to a time range, and remembers the previous one for Escape. */
import { navigate, zoomOrigins } from '../use-view.js'
import type { Filter } from '../view.js'

export function zoomIn({ last, since, until }: Filter, range: Partial<Filter>): void {
  navigate(range, { origins: [...zoomOrigins(), { last, since, until }] })
}

/** Selecting another time clears the zoom history. */
export function canZoomOut(): boolean {
  return zoomOrigins().length > 0
}

export function zoomOut(): void {
  navigate(zoomOrigins().at(-1) ?? {}, { origins: zoomOrigins().slice(0, -1) })
}
