/** The page in narrow windows, in light and dark, and without data. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { seed, SetClock } from './seed.js'
import { boxOf, detail, eventually, expectRows, goTo, parametersOf, row, rows, searchBox } from './viewer.js'

const VIEWS = ['entries', 'errors', 'requests', 'releases', 'monitors', 'feedback', 'rejected']
const NOT_THERE = [/404.*evt-nobody-knows/]

describeInBrowser('the window', () => {
  const browser = useBrowser()
  let service: IngestService
  let empty: IngestService

  beforeAll(async () => {
    const clock = new SetClock()
    service = await browser.serve({ clock })
    empty = await browser.serve()
    await seed(service.url, clock)
  })

  /**
   * Returns elements that extend beyond the right edge of the window. Hidden text is permitted only with an ellipsis or in scroll areas
   * that are marked as such: code, and tables in a region.
   */
  const beyond = (page: Page): Promise<string[]> =>
    page.evaluate(`(() => {
    const mayScroll = (element) => element.closest('pre, [role=region][tabindex], .table-scroll, .toolbar') !== null
    const isCut = (element) => {
      for (let one = element; one !== null; one = one.parentElement) if (getComputedStyle(one).textOverflow === 'ellipsis') return true
      return false
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = document.scrollingElement.scrollWidth > innerWidth ? ['the document is ' + document.scrollingElement.scrollWidth + ' wide'] : []
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode
      if (data.trim() === '' || !parentElement.checkVisibility({ visibilityProperty: true }) || parentElement.closest('.visually-hidden, svg') !== null) continue
      const range = document.createRange()
      range.selectNodeContents(walker.currentNode)
      if (range.getBoundingClientRect().right > innerWidth && !mayScroll(parentElement) && !isCut(parentElement)) found.push(data)
    }
    return found
  })()`)

  test.each([390, 360])('shows everything at a width of %i pixels', async (width) => {
    const rich = service.entries({ q: 'could not be paid' }).items[0]?.id
    const views = VIEWS.map((name) => `view=${name}`)
    for (const [one, paths] of [
      [empty, views],
      [service, [...views, 'view=requests&route=POST+%2Forders', `entry=${rich}`]],
    ] as const) {
      const page = await browser.open(one, { width, tolerates: NOT_THERE })
      for (const path of paths) {
        await goTo(page, `/?${path}`)
        await page.getByRole('heading').first().waitFor()
        await eventually(() => page.getByText('Loading …').count()).toBe(0)
        expect(await beyond(page), `${path}${one === empty ? ', empty' : ''}`).toEqual([])
      }
    }
  })

  test('narrow: a button shows the views, and the detail covers the list', async () => {
    const page = await browser.open(service, { width: 390 })
    await rows(page).first().waitFor()
    const nav = page.getByRole('navigation', { name: 'Views' })
    expect(await nav.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Entries', expanded: false }).click()
    await nav.getByRole('link', { name: /^Monitors/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor()
    await eventually(() => nav.isVisible()).toBe(false)

    await page.goto(`${service.origin}/`)
    await rows(page).first().click()
    await eventually(async () => (await boxOf(detail(page))).width).toBeGreaterThan(380)
    await eventually(() => rows(page).first().isVisible()).toBe(false)
    await detail(page)
      .getByRole('button', { name: /^Close/ })
      .click()
    await eventually(() => rows(page).first().isVisible()).toBe(true)
  })

  test('narrow: the tools are in one line that scrolls, and the panel of fields is within the window', async () => {
    const page = await browser.open(service, { width: 390, path: '/?q=a' })
    await rows(page).first().waitFor()
    await page.getByRole('button', { name: 'Service', exact: true }).click()
    const { x, width } = await boxOf(page.getByRole('region', { name: 'Fields' }))
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Filter by shipping' }).click()
    await eventually(() => parametersOf(page)['q']).toBe('a service:shipping')
    const padding = await page.evaluate<number>(
      `parseFloat(getComputedStyle(document.querySelector('.search .field')).paddingRight)`,
    )
    const field = await boxOf(searchBox(page))
    const clear = await boxOf(page.getByRole('button', { name: 'Clear the search' }))
    expect(field.x + field.width - padding).toBeLessThanOrEqual(clear.x)
  })

  test('is light or dark like the system, or as selected; it remembers the selection', async () => {
    const page = await browser.open(service, { colorScheme: 'dark', isFresh: true })
    await rows(page).first().waitFor()
    const lightness = (): Promise<number> =>
      page.evaluate(
        `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3`,
      )
    expect(await lightness()).toBeLessThan(70)
    const choose = async (theme: string): Promise<void> => {
      await page.keyboard.press('?')
      await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme)
    }
    await choose('light')
    await eventually(lightness).toBeGreaterThan(200)
    await page.reload()
    await rows(page).first().waitFor()
    expect(await lightness()).toBeGreaterThan(200)
    await choose('dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(lightness).toBeLessThan(70)
  })

  test('empty: code that connects an application to this service', async () => {
    const page = await browser.open(empty, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByText('Nothing has arrived yet').waitFor()
    const lines = await page.getByLabel('Lines that connect an application').innerText()
    expect(lines).toContain('pino(ingestOptions(')
    await page.getByText(`PINO_INGEST_URL=${empty.url} node app.mjs`).waitFor()
    await page.getByRole('button', { name: 'Copy' }).click()
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(lines)
    await ingest(empty, [entryOf({ message: 'connected' })])
    await expectRows(page, ['connected'])
    empty.reset()
  })

  test('empty: every other view has instructions', async () => {
    const page = await browser.open(empty)
    for (const [view, title, what] of [
      ['errors', 'No errors yet', 'captureError'],
      ['requests', 'No requests yet', 'requestLogs: true'],
      ['releases', 'No release registered yet', 'registerRelease'],
      ['monitors', 'No heartbeat yet', 'npx pino-ingest heartbeat'],
      ['feedback', 'No feedback yet', 'sendFeedback'],
      ['rejected', 'Nothing was rejected', 'were valid'],
    ] as const) {
      await goTo(page, `/?view=${view}`)
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(what).first().waitFor()
    }
  })

  test('a search without result keeps its text', async () => {
    const page = await browser.open(service)
    await rows(page).first().waitFor()
    await searchBox(page).fill('nothing has this')
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    expect(await searchBox(page).inputValue()).toBe('nothing has this')
    expect(await row(page, '').count()).toBe(0)
  })

  test('seven windows of a browser load; four are live, and the next one when one of them closes', async () => {
    const first = await browser.open(service, { isFresh: true })
    const others: Page[] = []
    for (let n = 0; n < 6; n++) others.push(await browser.open(service, { sharesProfileWith: first }))
    for (const page of [first, ...others]) await rows(page).first().waitFor()
    const live = async (): Promise<number> => {
      const counts = others
        .filter((page) => !page.isClosed())
        .map((page) => page.getByText('Live', { exact: true }).count())
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
    }
    await eventually(live).toBe(3)
    await first.close()
    await eventually(live).toBe(4)
  })
})
