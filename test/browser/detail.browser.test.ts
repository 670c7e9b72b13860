/** The detail of an entry: all fields, and related entries. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { call, entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import { detail, eventually, expectRows, parametersOf, row, rows, section } from './viewer.js'

const CLIPBOARD = ['clipboard-read', 'clipboard-write']

describeInBrowser('the detail of an entry', () => {
  const browser = useBrowser()
  let service: IngestService
  let id = ''
  const rich = cardDeclined(Date.now())

  beforeAll(async () => {
    service = await browser.serve()
    const {
      json: { release_id: releaseId },
    } = await call(`${service.url}/releases/register`, { body: { version: '2.7.0', commit_hash: 'abc' } })
    await ingest(service, [
      ...aroundCardDeclined(Date.parse(rich.timestamp)),
      { ...rich, release_id: releaseId },
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
    for (const text of ['error', 'payments', '2.7.0', 'production', rich.timestamp]) {
      await detail(page).getByText(text, { exact: true }).first().waitFor()
    }
    for (const tag of rich.tags ?? [])
      await detail(page).getByRole('list', { name: 'Tags' }).getByRole('link', { name: tag }).waitFor()
  })

  test('shows the error, its cause, and the frames of the application emphasized', async () => {
    const page = await opened()
    const error = section(page, 'Error')
    await error.getByText('CardDeclinedError', { exact: true }).waitFor()
    await error.getByText('card declined: limit reached', { exact: true }).waitFor()
    const own = error.getByRole('listitem').filter({ hasText: 'place.js:41:19' })
    await own.waitFor()
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

  test('shows the breadcrumbs in order, with their time before the error', async () => {
    const page = await opened()
    const texts = await section(page, 'Breadcrumbs').getByRole('listitem').allInnerTexts()
    const wanted = [
      ['9.21', 'opened the cart'],
      ['7.03', 'voucher applied'],
      ['1.31', 'payment started'],
      ['1.26', 'POST https://gateway'],
      ['60', 'refused'],
      ['0', 'CardDeclinedError'],
    ]
    expect(texts).toHaveLength(wanted.length)
    for (const [index, parts] of wanted.entries()) for (const part of parts) expect(texts[index]).toContain(part)
    await section(page, 'Breadcrumbs').getByText('voucher, discountCents').click()
    await section(page, 'Breadcrumbs').getByText('300').waitFor()
  })

  test('shows request, user, performance and all other fields', async () => {
    const page = await opened()
    const shown = {
      Request: [
        'POST',
        '/orders',
        'https://shop.example.com/orders?voucher=SPRING',
        '402',
        '1.28 s',
        '203.0.113.9',
        'Gecko/20100101',
      ],
      User: ['u-3', 'Jane Doe', 'jane@example.com', 's-u-3'],
      Performance: ['187.2', '9', '4'],
      Context: [
        'order.pay',
        'src/payments/pay.js:64',
        'req-rich',
        '4bf92f3577b34da6a3ce929d0e0e4736',
        '00f067aa0ba902b7',
        '53995c3f42cd8ad8',
        '41d0aa97c3be5f2d1e8a6b7c9d0e1f2a3b4c5d6e',
        'release/2.7',
        'grace',
      ],
    }
    for (const [title, texts] of Object.entries(shown)) {
      for (const text of texts) await section(page, title).getByText(text).first().waitFor()
    }
  })

  test('has no links to other sites: logged text does not become a link', async () => {
    const page = await opened()
    const hrefs: string[] = await page.evaluate(`[...document.querySelectorAll('a')].map((link) => link.href)`)
    // The frames of a stack open in an editor.
    expect(
      hrefs.filter((href) => !href.startsWith(`${service.origin}/`) && !href.startsWith('vscode://file/')),
    ).toEqual([])
  })

  test('shows the other entries of its trace by time, with links to them', async () => {
    const page = await opened()
    const trace = section(page, 'Trace')
    const links = trace.getByRole('listitem').getByRole('link')
    const wanted = [
      'read from the database',
      'reserved mug',
      'payment started',
      'reservation released',
      'could not be paid',
      'request completed',
    ]
    await eventually(async () =>
      (await links.allInnerTexts()).map((text, index) => text.includes(wanted[index] ?? '\0')),
    ).toEqual(wanted.map(() => true))
    await eventually(() => trace.getByRole('listitem').locator('[aria-current=true]').innerText()).toContain(
      'could not be paid',
    )
    await links.filter({ hasText: 'reserved mug' }).click()
    await detail(page)
      .getByRole('heading', { name: /^reserved mug/ })
      .waitFor()
    await eventually(() => trace.getByRole('listitem').locator('[aria-current=true]').innerText()).toContain(
      'reserved mug',
    )
    await trace.getByRole('link', { name: 'Show them in the list' }).click()
    await expectRows(page, [
      'request completed',
      'could not be paid',
      'reservation released',
      'payment started',
      'reserved mug',
      'read from the database',
    ])
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

  test('copies a link that opens the same entry, given the token', async () => {
    const page = await opened()
    await detail(page).getByRole('button', { name: 'Copy link' }).click()
    await eventually(() => clipboard(page)).toContain(service.origin)
    const other = await browser.open(service, {
      sharesProfileWith: page,
      path: (await clipboard(page)).slice(service.origin.length),
      token: null,
    })
    await detail(other).getByRole('heading', { name: rich.message }).waitFor()
  })

  test('links to its release', async () => {
    const page = await opened()
    await section(page, 'Context')
      .getByRole('link', { name: /2\.7\.0/ })
      .click()
    await page.getByRole('heading', { name: '2.7.0' }).waitFor()
    expect(parametersOf(page)['view']).toBe('releases')
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
