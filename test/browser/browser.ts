/** A real browser for a test file, and the services to open pages of. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { addressOf, contextOptions } from './browser-page.js'
import type { OpenOptions, Served } from './browser-page.js'
import { findChromium, launchChromium, NEEDS_CHROMIUM } from './chromium.js'
import { openRestingPlace } from './resting-place.js'
import type { RestingPlace } from './resting-place.js'
import { REPORT_VIOLATIONS, Watch } from './watch.js'

/** Shorter than the timeout of a test: the error message then has the condition. */
const PATIENCE_MS = 10_000

export interface PageBrowser {
  /** Opens a new page; reuses the window of the previous test if it had the same options. */
  open(service: Served, options?: OpenOptions): Promise<Page>
  /** Opens an empty page in its own window. */
  openEmpty(): Promise<Page>
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
  let rest: RestingPlace | undefined

  beforeAll(async () => {
    browser = await launchChromium()
    rest = await openRestingPlace()
  })
  afterAll(async () => {
    await browser?.close()
    rest?.close()
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
    if (options.permissions !== undefined) await context.grantPermissions([...options.permissions])
    return context
  }
  const pageFor = async (options: OpenOptions): Promise<OpenPage> => {
    if (options.sharesProfileWith !== undefined)
      return openPage(options.sharesProfileWith.context(), (page) => page.close())
    const kind = JSON.stringify([contextOptions(options), options.permissions])
    const before = kept.get(kind)
    const isShared = options.isFresh !== true && (before === undefined || !opened.includes(before))
    if (isShared && before !== undefined) return before
    const context = await openContext(options)
    if (!isShared) return openPage(context, () => context.close())
    const page = await openPage(context, (left) => left.goto(rest?.origin ?? 'about:blank'))
    kept.set(kind, page)
    return page
  }

  return {
    async open(service, options = {}) {
      const one = await pageFor(options)
      opened.push(one)
      one.watch.expect(service.origin, options.tolerates ?? [])
      await one.page.goto(addressOf(service, options))
      return one.page
    },
    async openEmpty() {
      const one = await pageFor({ isFresh: true })
      opened.push(one)
      return one.page
    },
    async serve(options) {
      const service = await createIngestService(options)
      services.push(service)
      return service
    },
  }
}
