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
const REPLY_MS = 400
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
    await page.getByRole('button', { name: `Remove the filter | ${P95}` }).click()
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

  test('the keys select a bucket', async () => {
    const page = await opened()
    await legend(page).first().waitFor()
    await plot(page).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await eventually(() => chart(page).getByRole('status').innerText()).toMatch(/\/cart\s+10 ms/)
    await page.keyboard.press('Enter')
    await eventually(() => parametersOf(page)['since']).toBe(timeOf(1))
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

  test('functions, fields with numbers and groups are completed', async () => {
    const page = await opened('/')
    const option = (name: RegExp) => page.getByRole('option', { name })
    await searchBox(page).pressSequentially('shop | ma')
    await option(/^max/).waitFor()
    await page.keyboard.press('Tab')
    await searchBox(page).pressSequentially('cart')
    await option(/^metadata\.cart\.total/).waitFor()
    await page.keyboard.press('Tab')
    await searchBox(page).pressSequentially(' by serv')
    await option(/^service/).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await eventually(() => parametersOf(page)['q']).toBe('shop | max(metadata.cart.total) by service')
    await eventually(() => legend(page).count()).toBe(1)
  })

  test.each([
    ['| p95 duration by route', `| ${P95}`],
    ['| mean(duration)', '| avg(duration)'],
    ['| avg(duration) group by service', '| avg(duration) by service'],
    ['| p95()', '| p95(duration)'],
    ['| max(duratoin)', '| max(duration)'],
  ])('%s is corrected by a click', async (typed, corrected) => {
    const page = await opened('/')
    await search(page, typed)
    await page.getByRole('button', { name: `Search ${corrected}`, exact: true }).click()
    await eventually(() => parametersOf(page)['q']).toBe(corrected)
    await legend(page).first().waitFor()
  })

  test('says that no entry has a number, and why a chart of the address is invalid', async () => {
    const page = await opened('/?q=%7C+avg(service_time)')
    await chart(page).getByText('No entry has a number in service_time').waitFor()
    await goTo(page, '/?q=%7C+p95(duration+by+route')
    await eventually(() => page.locator('.search mark').allInnerTexts()).toEqual(['('])
    await eventually(() => rows(page).count()).toBeGreaterThan(0)
  })

  test('an invalid chart can be searched as a text', async () => {
    const page = await opened('/')
    await search(page, 'minute | p95(duration by route')
    await page.getByRole('button', { name: 'Search minute "| p95(duration by route"', exact: true }).click()
    await eventually(() => parametersOf(page)['q']).toBe('minute "| p95(duration by route"')
    await eventually(() => rows(page).count()).toBe(0)
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

  test('a step with the value 0 has its row, and can be selected', async () => {
    const zero = await browser.serve()
    const logs = [0, 5].map((n) => entryOf({ timestamp: timeOf(n * 10), metadata: { n, big: n * 3.5e307 } }))
    await ingest(zero, [...logs, ...logs])
    const page = await browser.open(zero, { path: '/?q=%7C+sum(n)' })
    await chart(page).getByRole('button', { name: 'As a table' }).click()
    const table = chart(page).getByRole('region', { name: 'The chart as a table' })
    await eventually(() => table.getByRole('row').allInnerTexts()).toMatchObject([
      expect.anything(),
      expect.stringMatching(/\t0$/),
      expect.stringMatching(/\t10$/),
    ])
    // More than the greatest number.
    await goTo(page, '/?q=%7C+sum(big)')
    await chart(page).getByRole('button', { name: 'As lines' }).click()
    await plot(page)
      .getByRole('img', { name: /^sum\(big\)/ })
      .waitFor()
  })

  test('a chart is reloaded only after three times the duration of the last reply', async () => {
    const service2 = await browser.serve()
    await ingest(service2, [entryOf()])
    const page = await browser.open(service2, { path: '/?q=%7C+count' })
    await legend(page).first().waitFor()
    const times: number[] = []
    await page.route('**/local/chart?*', async (route) => {
      times.push(performance.now())
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS))
      await route.continue()
    })
    await eventually(async () => {
      await ingest(service2, [entryOf()])
      return times.length
    }).toBe(2)
    const [first = 0, second = 0] = times
    expect(second - first).toBeGreaterThan(3.9 * REPLY_MS)
  })

  test.each(['errors', 'requests', 'monitors'])('%s names the chart that it does not use', async (view) => {
    const page = await browser.open(service, { path: `/?view=${view}&q=%7C+count` })
    await page.getByRole('note').filter({ hasText: '| count' }).getByRole('button').click()
    await eventually(() => parametersOf(page)).toEqual({ view })
  })

  test('functions are not completed in another view', async () => {
    const page = await browser.open(service, { path: '/?view=errors' })
    await searchBox(page).pressSequentially('serv')
    await page.getByRole('option').first().waitFor()
    await searchBox(page).fill('')
    await searchBox(page).pressSequentially('| p9')
    await page.getByRole('option').first().waitFor({ state: 'detached' })
  })

  test.each([390, 700, 1440])('%i px wide: nothing is wider than the window', async (width) => {
    const page = await browser.open(service, { path: `/?q=%7C+count+by+service`, width })
    await legend(page).first().waitFor()
    const { x, width: wide } = await boxOf(chart(page))
    expect(x + wide).toBeLessThanOrEqual(width)
  })
})
