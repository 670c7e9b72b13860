/** How a page is opened: its window, and its address with the token. */
import type { BrowserContextOptions, Page } from 'playwright-core'

/** Address and token of a service. */
export interface Served {
  readonly origin: string
  readonly token: string
}

export interface OpenOptions {
  /** Below the origin. Default `/`. */
  readonly path?: string
  /** Default: the service's own; null for none. */
  readonly token?: string | null
  /** Default 1280 by 800. */
  readonly width?: number
  readonly height?: number
  /** Default light. */
  readonly colorScheme?: 'light' | 'dark'
  /** Expected problems, for example refused requests while the service is stopped. */
  readonly tolerates?: readonly RegExp[]
  /** A page of the same browser profile, with the same storage. */
  readonly beside?: Page
  /** A browser profile of its own, in which nothing is stored. */
  readonly isFresh?: boolean
  /** As playwright names them. */
  readonly permissions?: readonly string[]
}

export function contextOptions({
  width = 1280,
  height = 800,
  colorScheme = 'light',
}: OpenOptions): BrowserContextOptions {
  // Ends animations at once.
  return {
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  }
}

export function addressOf({ origin, token: own }: Served, { path = '/', token = own }: OpenOptions): string {
  return `${origin}${path}${token === null ? '' : `#token=${token}`}`
}
