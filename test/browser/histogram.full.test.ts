/** The histogram and the chart of a query: a selection by pointer or keyboard becomes the time range of the list. */
import { beforeAll, expect, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, eventually, goTo, parametersOf, rows, row, searchBox, untilLive } from './viewer.js'

/** One request a minute from 8:00 to 8:59, of three routes in turn. */
const MINUTES = 60
const timeOf = (minute: number): string => new Date(Date.UTC(2026, 0, 31, 8, minute)).toISOString()
const PATHS = ['/orders/17', '/cart', '/items']
const P95 = 'p95(duration) by route'

describeInBrowser('over time', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(
      service,
      Array.from({ length: MINUTES }, (_, minute) =>
        entryOf({
          message: `minute ${minute}`,
          level: minute % 10 === 0 ? 'error' : 'info',
          service: minute % 2 === 0 ? 'shop' : 'pay',
          timestamp: timeOf(minute),
          request: { method: 'GET', path: PATHS[minute % 3] as string, status_code: 200, duration_ms: minute * 10 },
          metadata: { cart: { total: minute + 1 } },
        }),
      ),
    )
  })

  async function opened(path = '/'): Promise<Page> {
    const page = await browser.open(service, { path })
    await rows(page).first().waitFor()
    await plot(page).getByRole('img').waitFor()
    return page
  }

  const plot = (page: Page): Locator => page.getByRole('group', { name: /^Select a time/ })
  const chart = (page: Page): Locator => page.getByRole('region', { name: 'Chart' })
  const legend = (page: Page): Locator => chart(page).getByRole('list', { name: 'Lines' }).getByRole('listitem')

  /** Drags over a part of the plot, given as shares of its width. */
  async function drag(page: Page, from: number, to: number): Promise<void> {
    const { x, y, width, height } = await boxOf(plot(page))
    await page.mouse.move(x + width * from, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * (from + to) * 0.5, y + height / 2)
    // Beyond the plot, which ends the range.
    await page.mouse.move(Math.max(0, x + width * to), y + height / 2)
    await page.mouse.up()
  }

  /** Checks that the list has exactly the entries of the range in the address. */
  async function expectRange(page: Page): Promise<readonly string[]> {
    await eventually(() => Object.keys(parametersOf(page))).toEqual(expect.arrayContaining(['since', 'until']))
    const { since = '', until = '' } = parametersOf(page)
    const wanted = service.entries({ since, until }).items.map(({ entry }) => entry.message)
    await eventually(async () => (await rows(page).all()).length).toBe(wanted.length)
    for (const message of wanted) await rows(page).getByText(message, { exact: true }).waitFor()
    return wanted
  }

  test('the histogram: its values, and a range that is selected by dragging; Back returns to it, Escape zooms out', async () => {
    const page = await opened()
    await plot(page)
      .getByRole('img', { name: /60 entries, 6 error, 54 info/ })
      .waitFor()
    const { x, y, width, height } = await boxOf(plot(page))
    await page.mouse.move(x + width * 0.5, y + height / 2)
    await page
      .getByText(/^1 entry, 1 (?:info|error)$/)
      .filter({ visible: true })
      .first()
      .waitFor()
    await drag(page, 0.25, 0.5)
    const chosen = await expectRange(page)
    // 15 minutes from 8:15, to the precision of a bar.
    expect(chosen.length).toBeGreaterThanOrEqual(15)
    expect(chosen.length).toBeLessThanOrEqual(18)
    expect(chosen).toEqual(expect.arrayContaining(['minute 15', 'minute 29']))

    const zoomOut = page.getByRole('button', { name: 'Zoom out' })
    await zoomOut.waitFor()
    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await eventually(() => parametersOf(page)).toEqual({})
    await zoomOut.waitFor({ state: 'detached' })
    await page.goBack()
    expect(await expectRange(page)).toEqual(chosen)
    await page.reload()
    await zoomOut.waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({})
    await drag(page, 0.1, -0.1)
    expect(await expectRange(page)).toContain('minute 0')
  })

  test('a range is selected by keyboard, announced to screen readers, and refined; Escape cancels', async () => {
    const page = await opened()
    await plot(page).focus()
    for (const key of ['ArrowRight', 'Escape', 'Enter']) await page.keyboard.press(key)
    await untilLive(page)
    expect(parametersOf(page)).toEqual({})
    await plot(page).focus()
    for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight'])
      await page.keyboard.press(key)
    await page
      .getByRole('status')
      .filter({ hasText: /\d+ entries/ })
      .waitFor()
    await page.keyboard.press('Enter')
    expect(await expectRange(page)).toHaveLength(4)
    await plot(page)
      .getByRole('img', { name: /4 entries/ })
      .waitFor()
    await plot(page).focus()
    for (const key of ['ArrowRight', 'Enter']) await page.keyboard.press(key)
    await eventually(async () => rows(page).count()).toBeLessThan(4)
  })

  test('the start of a process is marked, labels are within a narrow window, and new entries are added', async () => {
    const own = await browser.serve()
    const logged = (pid: number, minute: number) =>
      entryOf({ service: 'shop', metadata: { pid, hostname: 'laptop' }, timestamp: timeOf(minute) })
    await ingest(own, [logged(1, 0), logged(1, 10), logged(2, 20)])
    const page = await browser.open(own, { width: 390 })
    await plot(page)
      .getByRole('img', { name: /3 entries/ })
      .waitFor()
    await ingest(own, [logged(2, 59)])
    await plot(page)
      .getByRole('img', { name: /4 entries/ })
      .waitFor()
    await eventually(() => plot(page).locator('.run-start').count()).toBe(2)
    for (const label of await plot(page).locator('text').all()) {
      const { x, width } = await boxOf(label)
      expect([x >= 0, x + width <= 390]).toEqual([true, true])
    }
    await plot(page).focus()
    await page.keyboard.press('ArrowRight')
    await plot(page).getByRole('status').filter({ hasText: 'shop started' }).waitFor()
    for (let n = 0; n < 20; n += 1) await page.keyboard.press('ArrowRight')
    await plot(page).getByRole('status').filter({ hasText: 'shop restarted' }).waitFor()
  })

  test('a chart is typed after the filter, has one line per route, and stays after a reload and Back', async () => {
    const page = await opened()
    const search = async (text: string): Promise<void> => {
      await searchBox(page).fill(text)
      await searchBox(page).press('Enter')
    }
    await search(`service:shop | ${P95}`)
    await eventually(async () =>
      (await legend(page).allInnerTexts()).map((text) => text.split(/\s+/)[0]).toSorted(),
    ).toEqual(['/cart', '/items', '/orders/*'])
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
    await legend(page)
      .getByRole('button', { name: /^\/orders\/\*/ })
      .click()
    await eventually(() => parametersOf(page)['q']).toBe(`service:shop route:"/orders/*" | ${P95}`)
    await eventually(() => rows(page).count()).toBe(10)
    await search('service:shop')
    await page.getByRole('region', { name: 'Entries over time' }).waitFor()
    expect(parametersOf(page)).toEqual({ q: 'service:shop' })
  })

  test('a chart shows its values at the pointer and in a table; a click and dragging select times', async () => {
    const page = await opened(`/?q=%7C+${encodeURIComponent(P95)}`)
    await legend(page).first().waitFor()
    const { x, y, width, height } = await boxOf(plot(page).getByRole('img'))
    await page.mouse.move(x + width / 2, y + height / 2)
    await eventually(() => chart(page).locator('.tip').innerText()).toMatch(/2026-01-31 \d\d:\d\d:00[^]*\d+ ms/)
    await page.mouse.click(x + width / 2, y + height / 2)
    expect(await expectRange(page)).toHaveLength(1)
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({ q: `| ${P95}` })
    await drag(page, 0.25, 0.5)
    expect((await expectRange(page)).length).toBeGreaterThan(10)

    await goTo(page, '/?q=%7C+avg(service_time)')
    await chart(page).getByText('No entry has a number in service_time').waitFor()
    await goTo(page, '/?q=%7C+sum(cart.total)')
    await chart(page).getByRole('button', { name: 'As a table' }).click()
    const lines = chart(page).getByRole('region', { name: 'The chart as a table' }).getByRole('row')
    await eventually(() => lines.count()).toBe(MINUTES + 1)
    expect(await lines.last().innerText()).toMatch(/:59:00\.000\s+60$/)
    await lines.last().getByRole('link').click()
    await eventually(() => parametersOf(page)['since']).toBe(timeOf(59))
  })
})
