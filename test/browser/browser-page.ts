/** Options for opening a page: its window, and its address with the token. */
import type { BrowserContextOptions, Page } from 'playwright-core'

/** Address and token of a service. */
export interface Served {
  readonly origin: string
  readonly token: string
}

export interface OpenOptions {
  /** Path below the origin. Default `/`. */
  readonly path?: string
  /** Default: the service's token; null for none. */
  readonly token?: string | null
  /** Default 1280 by 800. */
  readonly width?: number
  readonly height?: number
  /** Default light. */
  readonly colorScheme?: 'light' | 'dark'
  /** Expected problems, for example refused requests while the service is stopped. */
  readonly tolerates?: readonly RegExp[]
  /** Opens the page in the browser profile of this page, with the same storage. */
  readonly sharesProfileWith?: Page
  /** Opens the page in a new browser profile with empty storage. */
  readonly isFresh?: boolean
  /** Permissions by playwright's names. */
  readonly permissions?: readonly string[]
}

export function contextOptions({
  width = 1280,
  height = 800,
  colorScheme = 'light',
}: OpenOptions): BrowserContextOptions {
  // Disables animations.
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
