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
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  test('reports no problem for a correct page', async () => {
    await page.getByText('Nothing has arrived yet').waitFor()
    expect(watch.take()).toEqual([])
  })

  test.each([
    ['an uncaught error', `setTimeout(() => { throw new TypeError('lost') })`, /page error: TypeError: lost/],
    ['an unhandled rejection', `void Promise.reject(new Error('unheard'))`, /page error: .*unheard/],
    ['an error on the console', `console.error('told')`, /console error: told/],
    [
      'a request to another host',
      `void fetch('http://elsewhere.invalid/').catch(() => {})`,
      /policy violation: connect-src http:\/\/elsewhere\.invalid/,
    ],
    [
      'an image of its own host',
      `document.body.append(Object.assign(new Image(), { src: '/picture.png' }))`,
      /request to .*\/picture\.png/,
    ],
    [
      'markup created from text',
      `setTimeout(() => { document.body.innerHTML = '<b>bold' })`,
      /policy violation: require-trusted-types-for/,
    ],
    [
      'a script in the page',
      `document.body.append(Object.assign(document.createElement('script'), { textContent: '1' }))`,
      /TrustedScript|policy violation: (?:script-src|require-trusted-types)/,
    ],
    [
      'a style in the page',
      `document.body.append(Object.assign(document.createElement('style'), { textContent: '*{}' }))`,
      /policy violation: style-src/,
    ],
    ['a dialog', `setTimeout(() => alert('hello'))`, /dialog: hello/],
    ['a window', `void window.open('about:blank')`, /window opened/],
  ])('reports %s', async (_what, script, told) => {
    const heard: string[] = []
    await page.evaluate(`{ ${script} }`).catch((error: unknown) => heard.push(String(error)))
    await eventually(() => {
      heard.push(...watch.take())
      return heard.join('\n')
    }).toMatch(told)
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
