/** Zooms in to a time range, and remembers the previous one for Escape. */
import { navigate, readZoomOrigins } from '../use-view.js'
import type { Filter } from '../view.js'

export function zoomIn({ last, since, until }: Filter, range: Partial<Filter>): void {
  navigate(range, { origins: [...readZoomOrigins(), { last, since, until }] })
}

/** Selecting another time clears the zoom history. */
export function canZoomOut(): boolean {
  return readZoomOrigins().length > 0
}

export function zoomOut(): void {
  navigate(readZoomOrigins().at(-1) ?? {}, { origins: readZoomOrigins().slice(0, -1) })
}
