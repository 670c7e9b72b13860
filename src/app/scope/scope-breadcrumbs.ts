/** [main] Breadcrumbs that the application adds itself, in addition to logged records. */
import type { Breadcrumb } from '../../protocol/log-entry.js'
import { limitObject, limitText } from './bounded-copy.js'
import { findHistory } from './app-state.js'
import type { ScopeHistory } from './app-state.js'

/** Fields as in the service's interface (Log entry, breadcrumbs). */
export interface BreadcrumbInput {
  /** Such as `navigation`, `http`, `query`, `user`. */
  readonly type?: string | undefined
  /** Such as `auth`, `cart`, `db`. */
  readonly category?: string | undefined
  /** Text of the breadcrumb. */
  readonly message?: string | undefined
  /** Such as `info`, `warn`, `error`. */
  readonly level?: string | undefined
  /** ISO 8601, milliseconds since the epoch or a Date. Default now. */
  readonly timestamp?: string | number | Date | undefined
  /** Copied at once, at most 256 values three levels deep, texts of at most 1,000 characters. */
  readonly data?: object | undefined
}

/** Beyond this number, the oldest breadcrumb is removed. */
const MAX_BREADCRUMBS = 100

/**
 * Adds a breadcrumb for the next error that is logged in the current `withScope()`, through `ingestMixin()` or `ingestOptions()`.
 * A scope keeps its last 100, and a breadcrumb is attached to one error only. Outside any scope the process has its own 100, for
 * errors that are logged outside any scope. Never throws.
 */
export function addBreadcrumb(breadcrumb: BreadcrumbInput): void {
  try {
    keepBreadcrumb(findHistory(), toBreadcrumb(breadcrumb))
  } catch {
    // A value of another type, or a getter that throws, must not fail the application.
  }
}

export function keepBreadcrumb({ breadcrumbs }: ScopeHistory, breadcrumb: Breadcrumb): void {
  breadcrumbs.push(breadcrumb)
  if (breadcrumbs.length > MAX_BREADCRUMBS) breadcrumbs.shift()
}

/** Removes and returns the breadcrumbs, which are attached to one error only. */
export function takeBreadcrumbs({ breadcrumbs }: ScopeHistory): Breadcrumb[] {
  return breadcrumbs.splice(0)
}

export function toBreadcrumb(input: BreadcrumbInput): Breadcrumb {
  const breadcrumb: Breadcrumb = {}
  for (const field of ['type', 'category', 'message', 'level'] as const) {
    const value: unknown = input[field]
    if (value !== undefined && value !== null && typeof value !== 'object') breadcrumb[field] = limitText(String(value))
  }
  breadcrumb.timestamp = isoTime(input.timestamp)
  if (typeof input.data === 'object' && input.data !== null) breadcrumb.data = limitObject(input.data)
  return breadcrumb
}

function isoTime(given: BreadcrumbInput['timestamp']): string {
  const time = given === undefined || given === null ? new Date() : new Date(given)
  return (Number.isNaN(time.getTime()) ? new Date() : time).toISOString()
}
