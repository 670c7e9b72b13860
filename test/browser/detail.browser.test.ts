/** The detail of an entry: all fields, related entries, and the menu of each value. */
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Json, LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import {
  boxOf,
  detail,
  eventually,
  expectRows,
  goTo,
  grid,
  hasFocus,
  parametersOf,
  row,
  rows,
  section,
} from './viewer.js'

describeInBrowser('the detail of an entry', () => {
  const browser = useBrowser()
  let service: IngestService
  let id = ''
  const rich = cardDeclined(Date.now())

  beforeAll(async () => {
    service = await browser.serve()
    const other = { service: 'payments', timestamp: new Date(Date.parse(rich.timestamp) - 20).toISOString() }
    await ingest(service, [
      ...aroundCardDeclined(Date.parse(rich.timestamp)),
      rich,
      entryOf({ ...other, level: 'error', message: 'of another order', metadata: { orderId: 99 } }),
    ])
    id = service.entries({ q: 'could not be paid' }).items[0]?.id ?? ''
  })

  async function opened(q = ''): Promise<Page> {
    const path = `/?${new URLSearchParams({ ...(q !== '' && { q }), entry: id }).toString()}`
    const page = await browser.open(service, { path })
    await detail(page).getByRole('heading', { name: rich.message }).waitFor()
    return page
  }

  /** Opens the newest of other entries. */
  async function openedOf(logs: readonly LogEntry[]): Promise<Page> {
    const other = await browser.serve()
    await ingest(other, logs)
    return browser.open(other, { path: `/?entry=${other.entries().items[0]?.id}` })
  }

  const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
  const menuOf = (page: Page, name: string): Locator =>
    detail(page).getByRole('button', { name: new RegExp(`^Actions for ${name.replaceAll(/[[\]."]/g, '\\$&')}( |$)`) })
  const choose = async (page: Page, value: string, action: string): Promise<void> => {
    await menuOf(page, value).first().click()
    await page.getByRole('menuitem', { name: action }).click()
    await eventually(() => page.getByRole('menu').count()).toBe(0)
  }

  test('opens from its row, with message, time, origin, the error and its cause, and breadcrumbs by time before it', async () => {
    const page = await browser.open(service)
    await row(page, rich.message).click()
    await detail(page).getByRole('heading', { name: rich.message }).waitFor()
    expect(parametersOf(page)).toEqual({ entry: id })
    for (const text of ['error', 'payments', '2.7.0', 'production', 'CardDeclinedError', ...(rich.tags ?? [])])
      await detail(page).getByText(text).first().waitFor()
    await detail(page).getByTitle(rich.timestamp).first().waitFor()
    for (const [title, text] of [
      ['Request', '1.28 s'],
      ['User', 'jane@example.com'],
      ['Performance', '187.2 MB'],
      ['Context', 'src/payments/pay.js:64'],
    ] as const)
      await section(page, title).getByText(text).waitFor()

    const error = section(page, 'Error')
    await error.getByRole('listitem').filter({ hasText: 'place.js:41:19' }).waitFor()
    // Frames of packages are folded into a line with the package names.
    const folded = error.getByText('3 frames in router, pino-http')
    await folded.waitFor()
    expect(await error.getByText('layer.js').filter({ visible: true }).count()).toBe(0)
    await folded.click()
    await error.getByText('layer.js').filter({ visible: true }).first().waitFor()
    await error.getByText('HttpError: 402 Payment Required').waitFor()
    await error.getByRole('button', { name: 'Copy stack' }).click()
    await eventually(() => clipboard(page)).toBe(rich.error?.stack)

    const crumbs = await section(page, 'Breadcrumbs').getByRole('listitem').allInnerTexts()
    expect(crumbs.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(
      [
        ['9.21', 'opened the cart'],
        ['7.03', 'voucher applied.*voucher=SPRING.*discountCents=300'],
        ['1.31', 'payment started'],
        ['1.26', 'POST https://gateway.*status_code=402'],
        ['60', 'refused'],
        ['0', 'CardDeclinedError'],
      ].map(([before, text]) => expect.stringMatching(new RegExp(`^.*${before}.*${text}`))),
    )
  })

  test('shows properties of each cause, source lines, and no empty objects; a long type does not overflow', async () => {
    const file = fileURLToPath(import.meta.url)
    const type = 'E'.repeat(400)
    const stack = `${type}: outer\n    at f (${file}:2:1)\ncaused by: Error: reset\n    at g (/app/b.js:1:1)`
    const cause = { type: 'Error', message: 'reset', code: 'ECONNRESET', errno: -104 }
    const page = await openedOf([
      entryOf({
        level: 'error',
        message: 'request errored',
        error: { type, message: 'outer', stack },
        metadata: { orderId: 7, req: { query: {}, params: {} }, error: { name: type, cause } },
      }),
    ])
    const error = section(page, 'Error')
    await error.getByLabel('Source').getByText("import { fileURLToPath } from 'node:url'").waitFor()
    const text = await error.innerText()
    expect(text.indexOf('code=ECONNRESET')).toBeGreaterThan(text.indexOf('Error: reset'))
    expect(text).toContain('errno=-104')
    expect(await detail(page).getByRole('heading', { level: 2 }).innerText()).not.toContain('request errored')
    expect(await section(page, 'Metadata').innerText()).toMatch(/^Metadata 1\s+orderId 7\s/)
    const beyond = ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
      scrollWidth - clientWidth
    expect(await detail(page).evaluate(beyond)).toBe(0)
  })

  test("links to the entries of its request, not to those of another process's; Escape returns to the filter", async () => {
    const of = (pid: number, message: string) =>
      entryOf({ message, service: 'shop', request_id: '7', metadata: { pid, hostname: 'laptop' } })
    const other = await browser.serve()
    await ingest(other, [of(1, 'before the restart'), of(2, 'read'), of(2, 'done')])
    const page = await browser.open(other, { path: '/?q=done' })
    await row(page, 'done').click()
    await detail(page).getByRole('link', { name: 'request 7' }).click()
    await expectRows(page, ['done', 'read'])
    // Escape closes the entry, releases the row, and goes back to the filter.
    for (let n = 0; n < 3; n += 1) await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({ q: 'done' })
  })

  test('shows the other entries of its trace; a folded section stays folded for the next entry', async () => {
    const page = await opened()
    const trace = section(page, 'Trace')
    await trace.locator('[aria-current=true]', { hasText: 'card declined' }).first().waitFor()
    await trace.getByRole('link', { name: /cart of Jane Doe read/ }).click()
    await detail(page)
      .getByRole('heading', { name: /^cart of Jane Doe read/ })
      .waitFor()
    await trace.getByRole('link', { name: 'Show them in the list' }).click()
    await eventually(() => rows(page).count()).toBe(6)
    const fold = (expanded: boolean) => detail(page).getByRole('button', { name: /^Trace/, expanded })
    await fold(true).click()
    await row(page, 'payment started').click()
    await detail(page).getByRole('heading', { name: 'payment started' }).waitFor()
    // Opens the section again for the next tests.
    await fold(false).click()
  })

  test('shows metadata as a foldable tree, and the raw JSON as it was sent', async () => {
    const page = await opened()
    const tree = section(page, 'Metadata')
    for (const text of ['orderId', '4711', 'totalCents', '5196', 'gatewayRequestId', 'null'])
      await tree.getByText(text, { exact: true }).first().waitFor()
    expect(await tree.getByText('mug-blue').count()).toBe(0)
    await tree.getByRole('button', { name: /^items/ }).click()
    await tree.getByRole('button', { name: /^0/ }).click()
    await tree.getByText('mug-blue').waitFor()

    await detail(page).getByRole('button', { name: 'Copy JSON' }).click()
    await eventually(async () => JSON.parse(await clipboard(page)) as unknown).toEqual(service.entry(id)?.entry)
    await detail(page).getByRole('button', { name: 'Raw JSON', exact: true }).click()
    const raw = section(page, 'Raw JSON').getByLabel('Raw JSON', { exact: true }).locator('visible=true').last()
    expect(JSON.parse(await raw.innerText())).toEqual(service.entry(id)?.entry)
    await detail(page).getByText('Raw JSON').first().scrollIntoViewIfNeeded()
    const close = detail(page).getByRole('button', { name: 'Close the detail' })
    expect((await boxOf(close)).y).toBeGreaterThanOrEqual(0)
  })

  test('copies the address with query and entry, also by a key, which opens the same, given the token', async () => {
    const page = await opened('service:payments')
    await detail(page).getByRole('button', { name: 'Copy address' }).click()
    const address = `${service.origin}/?q=service:payments&entry=${id}`
    await eventually(() => clipboard(page)).toBe(address)
    const path = address.slice(service.origin.length)
    const other = await browser.open(service, { sharesProfileWith: page, path, token: null })
    await detail(other).getByRole('heading', { name: rich.message }).waitFor()
    await page.bringToFront()
    for (const [key, notice] of [
      ['c', 'Copied the entry as JSON'],
      ['l', 'Copied the address'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('status').filter({ hasText: notice }).waitFor()
      if (key === 'c') expect(JSON.parse(await clipboard(page))).toEqual(service.entry(id)?.entry)
    }
    expect(await clipboard(page)).toBe(address)
  })

  test('a huge, deeply nested entry opens, and the page stays small', async () => {
    const deep = Array.from({ length: 98 }).reduce<Json>((inner) => ({ inner }), true)
    const message = 'a long message '.repeat(20_000)
    const stack = `RangeError: x\n${'    at recurse (/srv/a.js:1:2)\n'.repeat(20_000)}`
    const page = await openedOf([
      entryOf({
        level: 'error',
        message,
        metadata: {
          deep,
          keys: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key ${n}`, n])),
          text: 'y'.repeat(1_000_000),
        },
        request_id: 'r'.repeat(300_000),
        tags: Array.from({ length: 2000 }, (_, n) => `tag ${n}`),
        error: { type: 'RangeError', message, stack },
        breadcrumbs: Array.from({ length: 5000 }, (_, n) => ({ message: `crumb ${n}` })),
      }),
    ])
    await section(page, 'Breadcrumbs').getByText('crumb 4999').waitFor()
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(5000)
    expect(await page.evaluate<number>('document.body.innerText.length')).toBeLessThan(60_000)
  })

  test('the menu of a value filters and excludes by it, beside the active filter and the open entry', async () => {
    const page = await opened('service:payments')
    for (const [name, action, q, found] of [
      ['orderId', 'Filter by this value', 'service:payments metadata.orderId:4711', [rich.message]],
      [
        'orderId',
        'Exclude this value',
        'service:payments -metadata.orderId:4711',
        ['of another order', 'payment started'],
      ],
      ['cart.totalCents', 'At least this value', 'service:payments metadata.cart.totalCents:>=5196', [rich.message]],
      ['Path', 'Filter by this value', 'service:payments path:"/orders"', [rich.message]],
    ] as const) {
      await goTo(page, `/?${new URLSearchParams({ q: 'service:payments', entry: id }).toString()}`)
      await choose(page, name, action)
      expect(parametersOf(page)).toEqual({ q, entry: id })
      await expectRows(page, found)
    }
  })

  test('the menu of a value adds a column, removes it, lists the values, and leads to the context', async () => {
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
    await goTo(page, `/?q=service:payments&entry=${id}`)
    await detail(page).getByRole('link', { name: 'Show in context' }).click()
    expect(parametersOf(page)).toEqual({ q: 'service:payments', around: id, entry: id })
    await eventually(() => grid(page).getByText('reservation released').count()).toBe(1)
  })

  test('the menu exists for every kind of value, and copies the value as logged', async () => {
    const page = await opened()
    for (const name of ['Service', 'payments', 'Error type', 'discountCents', 'Status', 'Span id'])
      await menuOf(page, name).first().waitFor({ state: 'attached' })
    for (const [name, text] of [
      ['Duration', '1284.6'],
      ['charge.js:31:11', '/srv/shop/src/payments/charge.js:31:11'],
      ['cart', JSON.stringify(rich.metadata?.['cart'], null, 2)],
    ] as const) {
      await choose(page, name, 'Copy value')
      await eventually(() => clipboard(page)).toBe(text)
    }
    await choose(page, 'cart.totalCents', 'Copy path')
    await eventually(() => clipboard(page)).toBe('cart.totalCents')
    await page.getByRole('status').filter({ hasText: 'cart.totalCents' }).waitFor()
  })

  test('the menu works by keyboard: arrows move, Escape and a click elsewhere close it, the focus returns', async () => {
    const page = await opened()
    const path = menuOf(page, 'Path')
    await path.focus()
    await page.keyboard.press('Enter')
    const items = page.getByRole('menuitem')
    expect(await hasFocus(items.first())).toBe(true)
    await page.keyboard.press('ArrowUp')
    expect(await hasFocus(items.last())).toBe(true)
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(items.first())).toBe(true)
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('menu').count()).toBe(0)
    expect(await hasFocus(path)).toBe(true)
    expect(parametersOf(page)).toEqual({ entry: id })
    for (const key of ['ArrowDown', 'End', ' ']) await page.keyboard.press(key)
    await eventually(() => clipboard(page)).toBe('/orders')
    expect(await hasFocus(path)).toBe(true)
    await path.click()
    await page.getByRole('menu').waitFor()
    await detail(page).getByRole('heading', { level: 2 }).click({ force: true })
    await eventually(() => page.getByRole('menu').count()).toBe(0)
  })
})
