/** Zooms in to a time range, and remembers the previous one for Escape. Links of ids do so, too, see `followLinks`. */
import { navigate, readOrigins } from '../use-view.js'
import type { Filter } from '../view.js'

export function zoomIn({ last, since, until }: Filter, range: Partial<Filter>): void {
  navigate(range, { origins: [...readOrigins(), { last, since, until }] })
}

/** Selecting another time clears this history. */
export function canGoBack(): boolean {
  return readOrigins().length > 0
}

export function goBack(): void {
  navigate(readOrigins().at(-1) ?? {}, { origins: readOrigins().slice(0, -1) })
}

/** Whether the previous filter has another query, not only another time. */
export function isQueryReplaced(): boolean {
  return readOrigins().at(-1)?.q !== undefined
}
