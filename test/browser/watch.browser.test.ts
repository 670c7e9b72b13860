/** The page watcher detects each of these problems, which then fail a test. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { describeInBrowser } from './browser.js'
import { launchChromium } from './chromium.js'
import { eventually } from './viewer.js'
import { REPORT_VIOLATIONS, Watch } from './watch.js'

describeInBrowser('the watch', () => {
  let browser: Browser | undefined
  let service: IngestService | undefined
  let page: Page
  let watch: Watch
  let origin: string

  beforeAll(async () => {
    browser = await launchChromium()
    service = await createIngestService()
    const context = await browser.newContext()
    await context.addInitScript(REPORT_VIOLATIONS)
    page = await context.newPage()
    watch = new Watch(page)
    origin = service.origin
    watch.expect(origin, [])
    await page.goto(service.pageUrl)
    await page.getByText('Nothing has arrived yet').waitFor()
    // A correct page has no problem.
    expect(watch.take()).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  test('reports errors, dialogs, and what the policy forbids', async () => {
    for (const [script, told] of [
      [`setTimeout(() => { throw new TypeError('lost') })`, /page error: TypeError: lost/],
      [
        `void fetch('http://elsewhere.invalid/').catch(() => {})`,
        /policy violation: connect-src http:\/\/elsewhere\.invalid/,
      ],
      [`setTimeout(() => alert('hello'))`, /dialog: hello/],
    ] as const) {
      const heard: string[] = []
      await page.evaluate(`{ ${script} }`)
      await eventually(() => {
        heard.push(...watch.take())
        return heard.join('\n')
      }).toMatch(told)
    }
  })

  test('ignores only problems that a test tolerates', async () => {
    watch.expect(origin, [/expected/])
    await page.evaluate(`console.error('expected'), console.error('another')`)
    const heard: string[] = []
    await eventually(() => {
      heard.push(...watch.take())
      return heard
    }).toEqual([expect.stringContaining('console error: another')])
  })
})
