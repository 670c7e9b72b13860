/** The chart of the query: one line for each value of a field, in place of the histogram. */
import { beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, eventually, goTo, parametersOf, row, rows, searchBox } from './viewer.js'

/** One request a minute from 8:00 to 8:59, of three routes in turn. */
const MINUTES = 60
const timeOf = (minute: number): string => new Date(Date.UTC(2026, 0, 31, 8, minute)).toISOString()
const PATHS = ['/orders/17', '/cart', '/items']
/** Longer than the pause in typing after which a search is applied. */
const PAUSE_MS = 300
const P95 = 'p95(duration) by route'

describeInBrowser('the chart of a query', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(
      service,
      Array.from({ length: MINUTES }, (_, minute) =>
        entryOf({
          message: `minute ${minute}`,
          service: minute % 2 === 0 ? 'shop' : 'pay',
          timestamp: timeOf(minute),
          request: { method: 'GET', path: PATHS[minute % 3] as string, status_code: 200, duration_ms: minute * 10 },
          metadata: { cart: { total: minute + 1 } },
        }),
      ),
    )
  })

  const chart = (page: Page) => page.getByRole('region', { name: 'Chart' })
  const legend = (page: Page) => chart(page).getByRole('list', { name: 'Lines' }).getByRole('listitem')
  const plot = (page: Page) => chart(page).getByRole('group', { name: /^Select a time/ })
  const search = async (page: Page, text: string): Promise<void> => {
    await searchBox(page).fill(text)
    await searchBox(page).press('Enter')
  }

  async function opened(path = `/?q=%7C+${encodeURIComponent(P95)}`, tolerates: readonly RegExp[] = []): Promise<Page> {
    const page = await browser.open(service, { path, tolerates })
    await rows(page).first().waitFor()
    return page
  }

  test('is typed after the filter, has one line per route, and stays after a reload and Back', async () => {
    const page = await opened('/')
    await search(page, `service:shop | ${P95}`)
    await eventually(() => legend(page).allInnerTexts()).toHaveLength(3)
    const texts = (await legend(page).allInnerTexts()).toSorted()
    expect(texts.map((text) => text.split(/\s+/)[0])).toEqual(['/cart', '/items', '/orders/*'])
    await chart(page)
      .getByRole('img', { name: /p95\(duration\) by route: .*\/cart 580 ms in 10 entries/ })
      .waitFor()
    expect(await plot(page).locator('.line').count()).toBe(3)
    // The list has the entries of the filter.
    await eventually(() => row(page, 'minute 59').count()).toBe(0)
    expect(parametersOf(page)).toEqual({ q: `service:shop | ${P95}` })

    await page.reload()
    await eventually(() => legend(page).count()).toBe(3)
    expect(await searchBox(page).inputValue()).toBe(`service:shop | ${P95}`)
    await goTo(page, '/?view=errors')
    await page.goBack()
    await eventually(() => legend(page).count()).toBe(3)
    await search(page, 'service:shop')
    await page.getByRole('region', { name: 'Entries over time' }).waitFor()
    expect(parametersOf(page)).toEqual({ q: 'service:shop' })
  })

  test('a bucket shows its values, and a click selects its time; Escape goes back', async () => {
    const page = await opened()
    await legend(page).first().waitFor()
    const { x, y, width, height } = await boxOf(plot(page).getByRole('img'))
    await page.mouse.move(x + width / 2, y + height / 2)
    await eventually(() => chart(page).locator('.tip').innerText()).toMatch(/2026-01-31 \d\d:\d\d:00[^]*\d+ ms/)
    await page.mouse.click(x + width / 2, y + height / 2)
    await eventually(() => Object.keys(parametersOf(page))).toEqual(['q', 'since', 'until'])
    const { since = '', until = '' } = parametersOf(page)
    expect(Date.parse(until) - Date.parse(since)).toBe(60_000)
    await eventually(() => rows(page).count()).toBe(service.entries({ since, until }).items.length)
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({ q: `| ${P95}` })
  })

  test('dragging selects a range', async () => {
    const page = await opened()
    await legend(page).first().waitFor()
    const { x, y, width, height } = await boxOf(plot(page).getByRole('img'))
    await page.mouse.move(x + width * 0.25, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.5, y + height / 2)
    await page.mouse.up()
    await eventually(() => Object.keys(parametersOf(page))).toEqual(['q', 'since', 'until'])
    const { since = '', until = '' } = parametersOf(page)
    expect((Date.parse(until) - Date.parse(since)) / 60_000).toBeGreaterThan(10)
  })

  test('a click on a line of the legend adds its value to the filter', async () => {
    const page = await opened()
    await legend(page)
      .getByRole('button', { name: /^\/orders\/\*/ })
      .click()
    await eventually(() => parametersOf(page)['q']).toBe(`route:"/orders/*" | ${P95}`)
    await eventually(() => legend(page).count()).toBe(1)
    await eventually(() => rows(page).count()).toBe(20)
  })

  test('the table has the values, with links to their times', async () => {
    const page = await opened('/?q=%7C+sum(cart.total)')
    await chart(page).getByRole('button', { name: 'As a table' }).click()
    const table = chart(page).getByRole('region', { name: 'The chart as a table' })
    await eventually(() => table.getByRole('row').count()).toBe(MINUTES + 1)
    expect(await table.getByRole('row').last().innerText()).toMatch(/:59:00\.000\s+60$/)
    await table.getByRole('row').last().getByRole('link').click()
    await eventually(() => parametersOf(page)['since']).toBe(timeOf(59))
  })

  test('a mistake is corrected by a click', async () => {
    const page = await opened('/')
    await search(page, '| p95 duration by route')
    await page.getByRole('button', { name: `Search | ${P95}`, exact: true }).click()
    await eventually(() => parametersOf(page)['q']).toBe(`| ${P95}`)
    await legend(page).first().waitFor()
  })

  test('says that no entry has a number, and why a chart of the address is invalid', async () => {
    const page = await opened('/?q=%7C+avg(service_time)')
    await chart(page).getByText('No entry has a number in service_time').waitFor()
    await goTo(page, '/?q=%7C+p95(duration+by+route')
    await page.locator('.search').getByText(/p95\(/).waitFor()
    await eventually(() => rows(page).count()).toBeGreaterThan(0)
  })

  test('a chart that is being typed is neither an error nor a search', async () => {
    const page = await opened('/')
    for (const typed of ['|', ' p9', '5(dur']) {
      await searchBox(page).pressSequentially(typed)
      await page.getByRole('option').first().waitFor()
      await page.waitForTimeout(PAUSE_MS)
      expect([parametersOf(page), await page.locator('.search').getByRole('alert').count()]).toEqual([{}, 0])
    }
    await searchBox(page).pressSequentially('ation)')
    await eventually(() => parametersOf(page)).toEqual({ q: '| p95(duration)' })
  })

  test.each([390, 700, 1440])('%i px wide: nothing is wider than the window', async (width) => {
    const page = await browser.open(service, { path: `/?q=%7C+count+by+service`, width })
    await legend(page).first().waitFor()
    const { x, width: wide } = await boxOf(chart(page))
    expect(x + wide).toBeLessThanOrEqual(width)
  })
})
