/** Actions for a value in the detail, and for the whole entry. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import { boxOf, detail, eventually, expectRows, goTo, grid, hasFocus, parametersOf, section } from './viewer.js'

const CLIPBOARD = ['clipboard-read', 'clipboard-write']

describeInBrowser('the menu of a value', () => {
  const browser = useBrowser()
  const rich = cardDeclined(Date.now())
  let service: IngestService
  let id = ''

  beforeAll(async () => {
    service = await browser.serve()
    const other = { service: 'payments', timestamp: new Date(Date.parse(rich.timestamp) - 20).toISOString() }
    await ingest(service, [
      ...aroundCardDeclined(Date.parse(rich.timestamp)),
      rich,
      entryOf({ ...other, level: 'error', message: 'of another order', metadata: { orderId: 99, 'last seen': 'a b' } }),
    ])
    id = service.entries({ limit: 10 }).items.find(({ entry }) => entry.message === rich.message)?.id ?? ''
    expect(id).not.toBe('')
  })

  async function opened(q = '', entry = id): Promise<Page> {
    const path = `/?${new URLSearchParams({ ...(q !== '' && { q }), entry }).toString()}`
    const page = await browser.open(service, { permissions: CLIPBOARD, path })
    await detail(page).getByRole('heading', { level: 2 }).waitFor()
    return page
  }

  const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
  const button = (page: Page, name: string): Locator =>
    detail(page).getByRole('button', { name: `Actions for ${name}`, exact: true })
  const choose = async (page: Page, value: string, action: string): Promise<void> => {
    await button(page, value).first().click()
    await page.getByRole('menuitem', { name: action }).click()
    await eventually(() => page.getByRole('menu').count()).toBe(0)
  }

  test('filters by the value, and keeps active filters and the open entry', async () => {
    const page = await opened('service:payments')
    await choose(page, 'orderId', 'Filter by this value')
    expect(parametersOf(page)).toEqual({ q: 'service:payments metadata.orderId:4711', entry: id })
    await expectRows(page, [rich.message])
    await choose(page, 'Path', 'Filter by this value')
    expect(parametersOf(page)['q']).toBe('service:payments metadata.orderId:4711 path:"/orders"')
    await expectRows(page, [rich.message])
  })

  test('excludes the value', async () => {
    const page = await opened('service:payments')
    await choose(page, 'orderId', 'Exclude this value')
    expect(parametersOf(page)['q']).toBe('service:payments -metadata.orderId:4711')
    await expectRows(page, ['of another order', 'payment started'])
  })

  test('compares a number', async () => {
    const page = await opened()
    await choose(page, 'cart.totalCents', 'At least this value')
    expect(parametersOf(page)['q']).toBe('metadata.cart.totalCents:>=5196')
    await expectRows(page, [rich.message])
  })

  test('quotes field names if necessary', async () => {
    const other = service.entries({ limit: 10 }).items.find(({ entry }) => entry.message === 'of another order')
    const page = await opened('', other?.id)
    await choose(page, '["last seen"]', 'Filter by this value')
    expect(parametersOf(page)['q']).toBe('"metadata.last seen":"a b"')
    await expectRows(page, ['of another order'])
  })

  test('adds a column, and removes it', async () => {
    const page = await opened()
    await choose(page, 'orderId', 'Add as column')
    expect(parametersOf(page)).toEqual({ columns: 'metadata.orderId', entry: id })
    await grid(page)
      .getByRole('columnheader', { name: /orderId/ })
      .waitFor()
    await choose(page, 'orderId', 'Remove the column')
    expect(parametersOf(page)).toEqual({ entry: id })
  })

  test('exists for every kind of value, and copies the value as logged', async () => {
    const page = await opened()
    await section(page, 'Breadcrumbs').getByText('voucher, discountCents').click()
    for (const name of [
      'Service',
      'payments',
      'Error type',
      'charge.js:31:11',
      'discountCents',
      'Status',
      'Trace id',
      'Span id',
    ])
      await button(page, name).first().waitFor({ state: 'attached' })
    for (const [name, text] of [
      ['Duration', '1284.6'],
      ['Trace id', rich.trace?.trace_id],
      ['charge.js:31:11', '/srv/shop/src/payments/charge.js:31:11'],
      ['cart', JSON.stringify(rich.metadata?.['cart'], null, 2)],
    ] as const) {
      await choose(page, name, 'Copy value')
      await eventually(() => clipboard(page)).toBe(text)
    }
    await choose(page, 'cart.totalCents', 'Copy path')
    await eventually(() => clipboard(page)).toBe('cart.totalCents')
  })

  test('works by keyboard: arrows move, Escape and Tab close it, the focus returns, the detail stays open', async () => {
    const page = await opened()
    const path = button(page, 'Path')
    await path.focus()
    await page.keyboard.press('Enter')
    const items = page.getByRole('menuitem')
    expect(await hasFocus(items.first())).toBe(true)
    await page.keyboard.press('ArrowUp')
    expect(await hasFocus(items.last())).toBe(true)
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(items.first())).toBe(true)
    // Outside of a menu, this key is a command.
    await page.keyboard.press('c')
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('menu').count()).toBe(0)
    expect(await hasFocus(path)).toBe(true)
    expect(parametersOf(page)).toEqual({ entry: id })
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.keyboard.press(' ')
    await eventually(() => clipboard(page)).toBe('/orders')
    expect(await hasFocus(path)).toBe(true)
  })

  test('closes on a click elsewhere, and moves with its button when the panel is scrolled', async () => {
    const page = await opened()
    await button(page, 'Path').click()
    const menu = page.getByRole('menu')
    await menu.waitFor()
    await detail(page).getByRole('heading', { level: 2 }).click({ force: true })
    await eventually(() => menu.count()).toBe(0)
    await button(page, 'Path').click()
    await menu.waitFor()
    const distance = async (): Promise<number> => (await boxOf(menu)).y - (await boxOf(button(page, 'Path'))).y
    const [before, { y }] = [await distance(), await boxOf(menu)]
    await page.mouse.move((await boxOf(detail(page))).x + 20, 500)
    await page.mouse.wheel(0, 50)
    await eventually(async () => (await boxOf(menu)).y).toBeLessThan(y)
    await eventually(distance).toBe(before)
  })

  test('c copies the entry as JSON, u the request as curl, l the link without the token', async () => {
    const page = await opened()
    const pressed = async (key: string, notice: string): Promise<string> => {
      await page.keyboard.press(key)
      await page.getByRole('status').filter({ hasText: notice }).waitFor()
      return clipboard(page)
    }
    expect(JSON.parse(await pressed('c', 'Copied the entry as JSON'))).toEqual(service.entry(id)?.entry)
    const agent = rich.request?.user_agent
    expect(await pressed('u', 'Copied the request as curl')).toBe(
      `curl -X POST 'https://shop.example.com/orders?voucher=SPRING' -H 'User-Agent: ${agent}'`,
    )
    expect(await pressed('l', 'Copied the link')).toBe(`${service.origin}/?entry=${id}`)

    const other = service.entries({ limit: 10 }).items.find(({ entry }) => entry.request === undefined)?.id ?? ''
    await goTo(page, `/?entry=${other}`)
    await detail(page).getByText(other).waitFor()
    expect(await detail(page).getByRole('button', { name: 'Copy as curl' }).count()).toBe(0)
    await page.keyboard.press('u')
    await page.getByRole('status').filter({ hasText: 'has no request' }).waitFor()
  })

  test('links to the entries around this one, unfiltered', async () => {
    const page = await opened('service:payments')
    await detail(page).getByRole('link', { name: 'Show in context' }).click()
    expect(parametersOf(page)).toEqual({ q: 'service:payments', around: id, entry: id })
    await eventually(() => grid(page).getByText('request completed').count()).toBe(1)
  })
})
