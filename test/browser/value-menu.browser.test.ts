/** Actions for a value in the detail, and for the whole entry. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import { detail, eventually, expectRows, grid, hasFocus, parametersOf } from './viewer.js'

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
      entryOf({ ...other, level: 'error', message: 'of another order', metadata: { orderId: 99 } }),
    ])
    id = service.entries({ limit: 10 }).items.find(({ entry }) => entry.message === rich.message)?.id ?? ''
    expect(id).not.toBe('')
  })

  async function opened(q = ''): Promise<Page> {
    const path = `/?${new URLSearchParams({ ...(q !== '' && { q }), entry: id }).toString()}`
    const page = await browser.open(service, { permissions: CLIPBOARD, path })
    await detail(page).getByRole('heading', { level: 2 }).waitFor()
    return page
  }

  const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
  const button = (page: Page, name: string): Locator =>
    detail(page).getByRole('button', { name: new RegExp(`^Actions for ${name.replaceAll(/[[\]."]/g, '\\$&')}( |$)`) })
  const choose = async (page: Page, value: string, action: string): Promise<void> => {
    await button(page, value).first().click()
    await page.getByRole('menuitem', { name: action }).click()
    await eventually(() => page.getByRole('menu').count()).toBe(0)
  }

  test.each([
    ['orderId', 'Filter by this value', 'service:payments metadata.orderId:4711', [rich.message]],
    [
      'orderId',
      'Exclude this value',
      'service:payments -metadata.orderId:4711',
      ['of another order', 'payment started'],
    ],
    ['cart.totalCents', 'At least this value', 'service:payments metadata.cart.totalCents:>=5196', [rich.message]],
    ['Path', 'Filter by this value', 'service:payments path:"/orders"', [rich.message]],
  ])('%s: %s; the active filter and the open entry are kept', async (name, action, q, found) => {
    const page = await opened('service:payments')
    await choose(page, name, action)
    expect(parametersOf(page)).toEqual({ q, entry: id })
    await expectRows(page, found)
  })

  test("mutes an error by the error's message, because that of its entry is often the same for all", async () => {
    const other = await browser.serve()
    const failed = (message: string) =>
      entryOf({ level: 'error', message: 'request errored', error: { type: 'Error', message } })
    await ingest(other, [failed('no funds'), failed('no stock')])
    const page = await browser.open(other)
    await grid(page).getByText('no funds').click()
    await choose(page, 'Error message', 'Mute this message')
    await eventually(() => grid(page).getByText('no funds').count()).toBe(0)
    await grid(page).getByText('no stock').waitFor()
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
    await choose(page, 'orderId', 'Values of this field')
    expect(parametersOf(page)).toEqual({ field: 'metadata.orderId', entry: id })
  })

  test('exists for every kind of value, and copies the value as logged', async () => {
    const page = await opened()
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

  test('closes on a click elsewhere', async () => {
    const page = await opened()
    await button(page, 'Path').click()
    await page.getByRole('menu').waitFor()
    await detail(page).getByRole('heading', { level: 2 }).click({ force: true })
    await eventually(() => page.getByRole('menu').count()).toBe(0)
  })

  test('c copies the entry as JSON, l the address without the token', async () => {
    const page = await opened()
    const pressed = async (key: string, notice: string): Promise<string> => {
      await page.keyboard.press(key)
      await page.getByRole('status').filter({ hasText: notice }).waitFor()
      return clipboard(page)
    }
    expect(JSON.parse(await pressed('c', 'Copied the entry as JSON'))).toEqual(service.entry(id)?.entry)
    expect(await pressed('l', 'Copied the address')).toBe(`${service.origin}/?entry=${id}`)
  })

  test('links to the entries around this one, unfiltered', async () => {
    const page = await opened('service:payments')
    await detail(page).getByRole('link', { name: 'Show in context' }).click()
    expect(parametersOf(page)).toEqual({ q: 'service:payments', around: id, entry: id })
    await eventually(() => grid(page).getByText('reservation released').count()).toBe(1)
  })
})
