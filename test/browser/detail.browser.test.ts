/** The detail of an entry: all fields, and related entries. */
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { call, entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import { boxOf, detail, eventually, expectRows, goTo, parametersOf, row, rows, section } from './viewer.js'

interface Overflow {
  readonly scrollWidth: number
  readonly clientWidth: number
}

const CLIPBOARD = ['clipboard-read', 'clipboard-write']

describeInBrowser('the detail of an entry', () => {
  const browser = useBrowser()
  let service: IngestService
  let id = ''
  const rich = cardDeclined(Date.now())

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(service, [
      ...aroundCardDeclined(Date.parse(rich.timestamp)),
      rich,
      entryOf({ message: 'of another trace' }),
    ])
    id = service.entries({ q: 'could not be paid' }).items[0]?.id ?? ''
  })

  async function opened(): Promise<Page> {
    const page = await browser.open(service, { permissions: CLIPBOARD })
    await row(page, rich.message).click()
    await detail(page).getByRole('heading', { name: rich.message }).waitFor()
    return page
  }

  const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

  test('opens from its row, with message, time and origin', async () => {
    const page = await opened()
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
  })

  test('shows the error first, its cause, and the frames of the application emphasized', async () => {
    const page = await opened()
    await detail(page).getByRole('heading', { name: 'CardDeclinedError: card declined: limit reached' }).waitFor()
    const error = section(page, 'Error')
    await error.getByRole('listitem').filter({ hasText: 'place.js:41:19' }).waitFor()
    // Frames of packages are folded into a line with the package names.
    const folded = error.getByText('3 frames in router, pino-http')
    await folded.waitFor()
    expect(await error.getByText('layer.js').filter({ visible: true }).count()).toBe(0)
    await folded.click()
    await error.getByText('layer.js').filter({ visible: true }).first().waitFor()
    await error.getByText('caused by').first().waitFor()
    await error.getByText('HttpError: 402 Payment Required').waitFor()
    await error.getByRole('button', { name: 'Copy stack' }).click()
    await eventually(() => clipboard(page)).toBe(rich.error?.stack)
  })

  test('shows properties of each cause, source lines, and no empty objects; a long type does not overflow', async () => {
    const other = await browser.serve()
    const file = fileURLToPath(import.meta.url)
    const type = 'E'.repeat(400)
    const stack = `${type}: outer\n    at f (${file}:2:1)\ncaused by: Error: reset\n    at g (/app/b.js:1:1)`
    const cause = { type: 'Error', message: 'reset', code: 'ECONNRESET', errno: -104 }
    await ingest(other, [
      entryOf({
        level: 'error',
        message: 'request errored',
        error: { type, message: 'outer', stack },
        metadata: { orderId: 7, req: { query: {}, params: {} }, error: { name: type, cause } },
      }),
    ])
    const page = await browser.open(other, { path: `/?entry=${other.entries().items[0]?.id}` })
    const error = section(page, 'Error')
    await error.getByLabel('Source').getByText("import type { Page } from 'playwright-core'").waitFor()
    const text = await error.innerText()
    expect(text.indexOf('code=ECONNRESET')).toBeGreaterThan(text.indexOf('Error: reset'))
    expect(text).toContain('errno=-104')
    expect(await detail(page).getByRole('heading', { level: 2 }).innerText()).not.toContain('request errored')
    expect(await section(page, 'Metadata').innerText()).toMatch(/^Metadata 1\s+orderId 7\s/)
    expect(await detail(page).evaluate((element: Overflow) => element.scrollWidth - element.clientWidth)).toBe(0)
  })

  test('keeps its buttons visible when it is scrolled', async () => {
    const page = await opened()
    await detail(page).getByText('Raw JSON').scrollIntoViewIfNeeded()
    const close = detail(page).getByRole('button', { name: 'Close the detail' })
    expect((await boxOf(close)).y).toBeGreaterThanOrEqual(0)
  })

  test('unfolds spans with an error, whose entry has the text of its row', async () => {
    const other = await browser.serve()
    const span = { trace: { trace_id: 'a1', span_id: 'b1' } }
    const failed = {
      level: 'error',
      message: 'request errored',
      error: { type: 'Error', message: 'no funds' },
    } as const
    await ingest(other, [
      entryOf({ ...span, ...failed, request: { method: 'POST', path: '/orders' } }),
      entryOf({ ...span, message: 'paid' }),
      entryOf({ trace: { trace_id: 'a1' }, message: 'done' }),
    ])
    const page = await browser.open(other, { path: '/?view=traces&trace=a1' })
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('no funds').waitFor()
    expect(await timeline.getByText('request errored').filter({ visible: true }).count()).toBe(0)
  })

  test('shows the breadcrumbs in order, with their time before the error and their values', async () => {
    const page = await opened()
    const texts = await section(page, 'Breadcrumbs').getByRole('listitem').allInnerTexts()
    const wanted = [
      ['9.21', 'opened the cart'],
      ['7.03', 'voucher applied', 'voucher=SPRING', 'discountCents=300'],
      ['1.31', 'payment started'],
      ['1.26', 'POST https://gateway', 'status_code=402'],
      ['60', 'refused'],
      ['0', 'CardDeclinedError'],
    ]
    expect(texts).toHaveLength(wanted.length)
    for (const [index, parts] of wanted.entries()) for (const part of parts) expect(texts[index]).toContain(part)
  })

  test('hides the breadcrumbs of muted loggers, and counts them', async () => {
    const other = await browser.serve()
    const breadcrumbs = ['polled', 'polled again', 'paid'].map((message) => ({
      message,
      category: message === 'paid' ? 'shop' : 'queue',
    }))
    await ingest(other, [entryOf({ message: 'failed', level: 'error', breadcrumbs, metadata: { logger: 'queue' } })])
    const page = await browser.open(other, { path: `/?entry=${other.entries().items[0]?.id}` })
    const crumbs = section(page, 'Breadcrumbs')
    await crumbs.getByText('polled again').waitFor()
    await detail(page).getByRole('button', { name: 'Actions for logger' }).click()
    await page.getByRole('menuitem', { name: 'Mute this logger' }).click()
    await eventually(() => crumbs.getByText('polled').count()).toBe(0)
    await crumbs.getByText('paid').waitFor()
    await crumbs.getByRole('button', { name: /2 muted/ }).click()
    await crumbs.getByText('polled again').waitFor()
  })

  test("links to the entries of its request, not to those of another process's", async () => {
    const other = await browser.serve()
    const of = (pid: number, message: string) =>
      entryOf({ message, service: 'shop', request_id: '7', metadata: { pid, hostname: 'laptop' } })
    await ingest(other, [of(1, 'before the restart'), of(2, 'read'), of(2, 'done')])
    const page = await browser.open(other)
    await row(page, 'done').click()
    await detail(page).getByRole('link', { name: 'request 7' }).click()
    await expectRows(page, ['done', 'read'])
  })

  test('shows the other entries of its trace, with links to them', async () => {
    const page = await opened()
    const trace = section(page, 'Trace')
    await trace.locator('[aria-current=true]', { hasText: 'card declined' }).first().waitFor()
    await trace.getByRole('link', { name: /cart of Jane Doe read/ }).click()
    await detail(page)
      .getByRole('heading', { name: /^cart of Jane Doe read/ })
      .waitFor()
    await trace.getByRole('link', { name: 'Show them in the list' }).click()
    await eventually(() => rows(page).count()).toBe(6)
  })

  test('shows metadata as a foldable tree', async () => {
    const page = await opened()
    const tree = section(page, 'Metadata')
    for (const text of ['orderId', '4711', 'totalCents', '5196', 'gatewayRequestId', 'null'])
      await tree.getByText(text, { exact: true }).first().waitFor()
    expect(await tree.getByText('mug-blue').count()).toBe(0)
    await tree.getByRole('button', { name: /^items/ }).click()
    await tree.getByRole('button', { name: /^0/ }).click()
    await tree.getByText('mug-blue').waitFor()
    await tree.getByRole('button', { name: 'Actions for cart.totalCents' }).click()
    await page.getByRole('menuitem', { name: 'Copy value' }).click()
    await eventually(() => clipboard(page)).toBe('5196')
    await page.getByRole('status').filter({ hasText: 'Copied the value of cart.totalCents' }).waitFor()
  })

  test('copies the raw JSON as it was sent', async () => {
    const page = await opened()
    await detail(page).getByRole('button', { name: 'Copy JSON' }).click()
    await eventually(async () => JSON.parse(await clipboard(page)) as unknown).toEqual(service.entry(id)?.entry)
    await detail(page).getByRole('button', { name: 'Raw JSON', exact: true }).click()
    const raw = await section(page, 'Raw JSON')
      .getByLabel('Raw JSON', { exact: true })
      .locator('visible=true')
      .last()
      .innerText()
    expect(JSON.parse(raw)).toEqual(service.entry(id)?.entry)
  })

  test('copies the address with query and entry, which opens the same, given the token', async () => {
    const page = await opened()
    await goTo(page, `/?${new URLSearchParams({ q: 'service:payments', entry: id }).toString()}`)
    await detail(page).getByRole('button', { name: 'Copy address' }).click()
    await eventually(() => clipboard(page)).toBe(`${service.origin}/?q=service:payments&entry=${id}`)
    const path = (await clipboard(page)).slice(service.origin.length)
    const other = await browser.open(service, { sharesProfileWith: page, path, token: null })
    await detail(other).getByRole('heading', { name: rich.message }).waitFor()
  })

  test('shows feedback as soon as it arrives', async () => {
    const page = await opened()
    await section(page, 'Error').waitFor()
    const send = (comments: string): Promise<unknown> =>
      call(`${service.url}/feedback`, {
        body: { event_id: 'evt-card-declined', comments, name: 'Jane', email: 'jane@example.com' },
      })
    await send('I clicked twice')
    await section(page, 'Feedback').getByText('I clicked twice').waitFor()
    await send('and once more')
    await section(page, 'Feedback').getByText('and once more').waitFor()
    expect(await section(page, 'Feedback').getByRole('listitem').count()).toBe(2)
  })

  test('a folded section stays folded for the next entry', async () => {
    const page = await opened()
    await detail(page)
      .getByRole('button', { name: /^Trace/, expanded: true })
      .click()
    await row(page, 'payment started').click()
    await detail(page).getByRole('heading', { name: 'payment started' }).waitFor()
    await detail(page)
      .getByRole('button', { name: /^Trace/, expanded: false })
      .waitFor()
    // Opens the section again for the next tests.
    await detail(page)
      .getByRole('button', { name: /^Trace/ })
      .click()
  })

  test('a huge, deeply nested entry opens within 2 s, and the page stays responsive', async () => {
    const big = await browser.serve()
    const deep = Array.from({ length: 98 }).reduce<Record<string, unknown>>((inner) => ({ inner }), { end: true })
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key ${n}`, n]))
    const message = 'a long message '.repeat(20_000)
    await ingest(big, [
      {
        level: 'error',
        message,
        timestamp: new Date().toISOString(),
        metadata: { deep, keys, text: 'y'.repeat(1_000_000) },
        request_id: 'r'.repeat(300_000),
        tags: Array.from({ length: 2000 }, (_, n) => `tag ${n}`),
        error: {
          type: 'RangeError',
          message,
          stack: `RangeError: x\n${'    at recurse (/srv/a.js:1:2)\n'.repeat(20_000)}`,
        },
        breadcrumbs: Array.from({ length: 5000 }, (_, n) => ({ message: `crumb ${n}` })),
      },
    ])
    expect(big.rejected().items).toEqual([])
    const page = await browser.open(big)
    await rows(page).first().waitFor()
    const startedAt = performance.now()
    await rows(page).first().click()
    await section(page, 'Breadcrumbs').getByText('crumb 4999').waitFor()
    const tookMs = performance.now() - startedAt
    expect(tookMs).toBeLessThan(2000)
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(5000)
    expect(await page.evaluate<number>('document.body.innerText.length')).toBeLessThan(60_000)
  })
})
