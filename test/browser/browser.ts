/** A real browser for a test file, and the services to open pages of. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { findChromium, launchChromium, NEEDS_CHROMIUM } from './chromium.js'
import { REPORT_VIOLATIONS, Watch } from './watch.js'

/** Shorter than the timeout of a test: the error message then has the condition. */
const PATIENCE_MS = 10_000
/** Has an icon to prevent the browser from requesting one. */
const EMPTY_PAGE = '<!doctype html><title>waiting</title><link rel="icon" href="data:,">'

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
}

export interface PageBrowser {
  /** Opens a new page; reuses the window of the previous test if it had the same options. */
  open(service: Served, options?: OpenOptions): Promise<Page>
  /** Starts a service that is closed when the suite ends. */
  serve(options?: IngestServiceOptions): Promise<IngestService>
}

/** `describe`, skipped if there is no browser and none is required. */
export const describeInBrowser = describe.skipIf(findChromium() === undefined && !NEEDS_CHROMIUM)

interface OpenPage {
  readonly page: Page
  readonly watch: Watch
  /** Leaves the page after the test, which aborts the page's requests. */
  leave(): Promise<unknown>
}

/** Provides one browser for a suite. Call it first in `describeInBrowser`. */
export function useBrowser(): PageBrowser {
  const services: IngestService[] = []
  /** Windows by kind. They are reused, because opening one takes longer than most tests. */
  const kept = new Map<string, OpenPage>()
  let opened: OpenPage[] = []
  let browser: Browser | undefined
  /** Windows wait here between tests. On loopback, because leaving the site would end the window's process. */
  const rest = createServer((_, response) => void response.setHeader('content-type', 'text/html').end(EMPTY_PAGE))

  beforeAll(async () => {
    browser = await launchChromium()
    await once(rest.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(async () => {
    await browser?.close()
    rest.close()
    await Promise.all(services.map((service) => service.close()))
  })
  afterEach(async () => {
    const ended = opened
    opened = []
    const complaints = ended.flatMap(({ watch }) => watch.take())
    await Promise.all(ended.map((one) => one.leave()))
    expect(complaints, 'what a page must not do').toEqual([])
  })

  const openPage = async (context: BrowserContext, leave: (page: Page) => Promise<unknown>): Promise<OpenPage> => {
    const page = await context.newPage()
    return { page, watch: new Watch(page), leave: () => leave(page) }
  }
  const openContext = async (options: OpenOptions): Promise<BrowserContext> => {
    if (browser === undefined) throw new Error('the browser has not been started: call useBrowser() first in the suite')
    const context = await browser.newContext(contextOptions(options))
    context.setDefaultTimeout(PATIENCE_MS)
    await context.addInitScript(REPORT_VIOLATIONS)
    return context
  }
  const pageFor = async (options: OpenOptions): Promise<OpenPage> => {
    if (options.sharesProfileWith !== undefined)
      return openPage(options.sharesProfileWith.context(), (page) => page.close())
    const kind = JSON.stringify(contextOptions(options))
    const before = kept.get(kind)
    const isShared = options.isFresh !== true && (before === undefined || !opened.includes(before))
    if (isShared && before !== undefined) return before
    const context = await openContext(options)
    if (!isShared) return openPage(context, () => context.close())
    const { port } = rest.address() as AddressInfo
    const page = await openPage(context, (left) => left.goto(`http://127.0.0.1:${port}`))
    kept.set(kind, page)
    return page
  }

  return {
    async open(service, options = {}) {
      const one = await pageFor(options)
      opened.push(one)
      one.watch.expect(service.origin, options.tolerates ?? [])
      const { path = '/', token = service.token } = options
      await one.page.goto(`${service.origin}${path}${token === null ? '' : `#token=${token}`}`)
      return one.page
    },
    async serve(options) {
      const service = await createIngestService(options)
      services.push(service)
      return service
    },
  }
}

function contextOptions({ width = 1280, height = 800, colorScheme = 'light' }: OpenOptions): BrowserContextOptions {
  return {
    viewport: { width, height },
    colorScheme,
    // Disables animations.
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  }
}
