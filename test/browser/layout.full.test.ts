/** What fits into windows of several widths. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { VIEWS } from './accessible.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { seed, SetClock } from './seed.js'
import { boxOf, eventually, goTo, grid, row } from './viewer.js'

describeInBrowser('the layout', () => {
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

  test.each([360, 390])('everything is shown at a width of %i pixels', async (width) => {
    const rich = service.entries({ q: 'could not be paid' }).items[0]?.id
    const views = VIEWS.map((name) => `view=${name}`)
    for (const [one, paths] of [
      [empty, views],
      [service, [...views, 'view=requests&open=web-shop+POST+%2Forders', 'q=%7C+count+by+service', `entry=${rich}`]],
    ] as const) {
      const page = await browser.open(one, { width, tolerates: [/404.*evt-nobody-knows/] })
      for (const path of paths) {
        await goTo(page, `/?${path}`)
        await page.getByRole('heading').first().waitFor()
        await eventually(() => page.getByText('Loading …').count()).toBe(0)
        expect(await beyond(page), `${path}${one === empty ? ', empty' : ''}`).toEqual([])
      }
    }
  })

  test('a row shortens details first, then the path, and the message last; the service stays', async () => {
    const own = await browser.serve()
    const message = 'the payment provider did not answer in time'
    const request = {
      method: 'POST',
      path: '/api/v1/customers/71/carts/99/checkout',
      status_code: 502,
      duration_ms: 3000,
    }
    const metadata = { carrier: 'north', attempt: 3, shard: 'eu-1', worker: 'w-17' }
    const failed = entryOf({ level: 'error', message, service: 'payments', request, metadata })
    await ingest(own, [failed, { ...failed, level: 'info', metadata: { ...metadata, carrier: 'south', attempt: 4 } }])
    const page = await browser.open(own, { width: 1024 })
    const first = row(page, message).first()
    await first.waitFor()
    const isShortened = (selector: string) =>
      first.locator(selector).evaluate((element) => {
        const { scrollWidth, clientWidth } = element as { scrollWidth: number; clientWidth: number }
        return scrollWidth > clientWidth
      })
    expect([await isShortened('.row-message'), await isShortened('.row-details')]).toEqual([false, true])
    // The end of the path stays.
    await first.getByText('/checkout', { exact: true }).waitFor()
    const cell = first.getByRole('gridcell', { name: 'payments' })
    await first.click()
    expect((await boxOf(cell)).width).toBeGreaterThan(40)
    const narrow = await browser.open(own, { width: 700 })
    expect(
      (await boxOf(row(narrow, message).first().getByRole('gridcell', { name: 'payments' }))).width,
    ).toBeGreaterThan(40)
  })

  test('many columns scroll, and leave room for the message; in a narrow window they are in the second line', async () => {
    const own = await browser.serve()
    const names = Array.from({ length: 12 }, (_, n) => `field${n}`)
    const metadata = Object.fromEntries(names.map((name, n) => [name, `value${n}`]))
    await ingest(own, [entryOf({ message: 'paid', metadata })])
    const path = `/?columns=${names.map((name) => `metadata.${name}`).join()}`
    const page = await browser.open(own, { path })
    expect((await boxOf(row(page, 'paid').locator('.row-text'))).width).toBeGreaterThanOrEqual(200)
    const head = grid(page).getByRole('columnheader', { name: /^field11/ })
    expect((await boxOf(head)).width).toBeGreaterThanOrEqual(90)
    await row(page, 'paid').getByText('value11').scrollIntoViewIfNeeded()
    expect((await boxOf(head)).x).toBeLessThan(1280)
    expect(await grid(page).evaluate((element) => (element as { scrollLeft: number }).scrollLeft)).toBeGreaterThan(0)

    const narrow = await browser.open(own, { path: '/?columns=metadata.field1', width: 390 })
    const { x, width } = await boxOf(row(narrow, 'paid').getByText('field1=value1'))
    expect(x + width).toBeLessThanOrEqual(390)
    expect(await row(narrow, 'paid').getByText('value1', { exact: false }).count()).toBe(1)
  })
})
