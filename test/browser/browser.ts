/** A real browser for a test file, and the services whose pages it opens. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { addressOf, contextOptions } from './browser-page.js'
import type { OpenOptions, Served } from './browser-page.js'
import { findChromium, launchChromium, NEEDS_CHROMIUM } from './chromium.js'
import { openRestingPlace } from './resting-place.js'
import type { RestingPlace } from './resting-place.js'
import { TELL_VIOLATIONS, Watch } from './watch.js'

/** Shorter than the timeout of a test, so that the message names the condition. */
const PATIENCE_MS = 10_000

export interface PageBrowser {
  /** A new page; in the window of the previous test, if that had the same options. */
  open(service: Served, options?: OpenOptions): Promise<Page>
  /** An empty page in a window of its own. */
  openEmpty(): Promise<Page>
  /** A service that outlives the pages: it ends with the suite. */
  serve(options?: IngestServiceOptions): Promise<IngestService>
}

/** A suite that is skipped without a browser, unless one is required. */
export const describeInBrowser = describe.skipIf(findChromium() === undefined && !NEEDS_CHROMIUM)

interface OpenPage {
  readonly page: Page
  readonly watch: Watch
  /** After the test, which ends the page's requests. */
  leave(): Promise<unknown>
}

/** One browser for a suite. To be called first in `describeInBrowser`. */
export function useBrowser(): PageBrowser {
  const services: IngestService[] = []
  /** By the kind of window: to open one takes longer than most tests. */
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
    await context.addInitScript(TELL_VIOLATIONS)
    if (options.permissions !== undefined) await context.grantPermissions([...options.permissions])
    return context
  }
  const pageFor = async (options: OpenOptions): Promise<OpenPage> => {
    if (options.beside !== undefined) return openPage(options.beside.context(), (page) => page.close())
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
