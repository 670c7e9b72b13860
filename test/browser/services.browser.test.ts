/** The page for several services: names, columns and filters by service, and what a row and a query show. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { call, entryOf, ingest, requestLog } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import {
  boxOf,
  detail,
  eventually,
  expectRows,
  goTo,
  grid,
  parametersOf,
  row,
  rows,
  searchBox,
  untilLive,
} from './viewer.js'

const START_MS = Date.now()
const ago = (ms: number): string => new Date(START_MS - ms).toISOString()

/** `POST /checkout` of the shop calls `POST /orders`, whose request is logged first. */
const CHECKOUT: readonly LogEntry[] = [
  entryOf({
    message: 'request completed',
    timestamp: ago(900),
    service: 'orders',
    request_id: 'r-1',
    trace: { trace_id: 't-1', span_id: 'b', parent_span_id: 'a' },
    request: { method: 'POST', path: '/orders', status_code: 201, duration_ms: 40 },
  }),
  entryOf({
    message: 'card declined',
    level: 'error',
    timestamp: ago(800),
    service: 'shop',
    request_id: 'r-1',
    trace: { trace_id: 't-1', span_id: 'a' },
    error: { type: 'Declined', message: 'card declined' },
  }),
  entryOf({
    message: 'request completed',
    timestamp: ago(700),
    service: 'shop',
    request_id: 'r-1',
    trace: { trace_id: 't-1', span_id: 'a' },
    request: { method: 'POST', path: '/checkout', status_code: 500, duration_ms: 290 },
  }),
]

describeInBrowser('several services', () => {
  const browser = useBrowser()

  async function opened(
    entries: readonly LogEntry[],
    path = '/',
    width = 1280,
    tolerates: readonly RegExp[] = [],
  ): Promise<Page> {
    const service = await browser.serve()
    await ingest(service, entries)
    return browser.open(service, { path, width, tolerates })
  }

  test('a link of an id replaces the filter, and Escape returns to it', async () => {
    const page = await opened(CHECKOUT, '/?q=level:error')
    await row(page, 'card declined').click()
    await detail(page).getByRole('link', { name: 'request r-1', exact: true }).click()
    await eventually(() => rows(page).count()).toBe(3)
    // Escape closes the entry, releases the row, and goes back to the filter.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({ q: 'level:error' })
  })

  const LONG = entryOf({
    level: 'error',
    message: 'the payment provider did not answer in time',
    timestamp: ago(500),
    service: 'payments',
    request: { method: 'POST', path: '/api/v1/customers/71/carts/99/checkout', status_code: 502, duration_ms: 3000 },
    metadata: { carrier: 'north', attempt: 3, shard: 'eu-1', worker: 'w-17' },
  })

  test('a row shortens details first, then the path, and the message last', async () => {
    const page = await opened(
      [LONG, { ...LONG, level: 'info', metadata: { carrier: 'south', attempt: 4, shard: 'b', worker: 'x' } }],
      '/',
      1024,
    )
    const shortened = (selector: string) =>
      row(page, LONG.message)
        .first()
        .locator(selector)
        .evaluate((element) => {
          const { scrollWidth, clientWidth } = element as { scrollWidth: number; clientWidth: number }
          return scrollWidth > clientWidth
        })
    await rows(page).first().waitFor()
    expect(await shortened('.row-message')).toBe(false)
    expect(await shortened('.row-details')).toBe(true)
    // The end of the path stays.
    await row(page, LONG.message).first().getByText('/checkout', { exact: true }).waitFor()
  })

  test.each([
    [700, ''],
    [1024, 'open'],
  ])('%i px wide, %s: the service is shown', async (width, state) => {
    const page = await opened([LONG], '/', width)
    if (state === 'open') await row(page, LONG.message).click()
    const cell = row(page, LONG.message).getByRole('gridcell', { name: 'payments' })
    expect((await boxOf(cell)).width).toBeGreaterThan(40)
  })

  test('new entries are announced in a strip that covers no row', async () => {
    const service = await browser.serve()
    await ingest(service, [LONG])
    const page = await browser.open(service)
    await untilLive(page)
    await row(page, LONG.message).hover()
    const before = await boxOf(row(page, LONG.message))
    await ingest(service, [entryOf({ message: 'new', timestamp: ago(1) })])
    const strip = page.getByRole('button', { name: /Holding, 1 new/ })
    await strip.waitFor()
    const [list, shown] = [await boxOf(grid(page)), await boxOf(strip)]
    expect(shown.y).toBeGreaterThanOrEqual(list.y + list.height - 1)
    expect(await boxOf(row(page, LONG.message))).toEqual(before)
    await strip.click()
    await expectRows(page, ['new', LONG.message])
  })

  test('a query that can only be a mistake gets a hint, and is corrected by a click', async () => {
    const page = await opened([...CHECKOUT, LONG])
    await rows(page).first().waitFor()
    for (const [typed, corrected] of [
      ['statsu:500', 'status:500'],
      ['level!=info', '-level:info'],
    ] as const) {
      await searchBox(page).fill(typed)
      await searchBox(page).press('Enter')
      await page.getByRole('button', { name: `Search ${corrected}` }).click()
      await eventually(() => parametersOf(page)['q']).toBe(corrected)
      await eventually(() => rows(page).count()).toBeGreaterThan(0)
    }
  })

  test('views say which part of the filter they do not use', async () => {
    const service = await browser.serve()
    await call(`${service.url}/ingest/requests`, { body: { requests: [requestLog] } })
    const page = await browser.open(service, { path: '/?view=requests&q=level:error+status:200' })
    await page.getByRole('table', { name: 'Routes' }).getByRole('row', { name: /^GET/ }).waitFor()
    const note = page.getByRole('note').filter({ hasText: 'does not use' })
    expect(await note.innerText()).toContain('level:error')
    await goTo(page, '/?view=monitors&q=level:error&last=5m')
    await eventually(() => note.innerText()).toMatch(/level:error.*5 min/)
    await note.getByRole('button').click()
    await eventually(() => parametersOf(page)).toEqual({ view: 'monitors' })
  })

  test('Ctrl and a click on a row open it in a tab', async () => {
    const page = await opened(CHECKOUT, '/', 1280, [/^window opened/])
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      row(page, 'card declined').click({ modifiers: ['Control'] }),
    ])
    await detail(tab).getByRole('heading', { name: 'card declined' }).waitFor()
    expect(parametersOf(page)).toEqual({})
  })

  test('clear says what goes, and deletes it', async () => {
    const page = await opened(CHECKOUT)
    await rows(page).first().waitFor()
    const clear = page.getByRole('button', { name: 'Delete all records', exact: true })
    await clear.click()
    const dialog = page.getByRole('dialog', { name: 'Delete all records' })
    await dialog.getByText('3 entries').waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => dialog.count()).toBe(0)
    expect(await rows(page).count()).toBe(3)
    await clear.click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await eventually(() => rows(page).count()).toBe(0)
    await eventually(() => dialog.count()).toBe(0)
  })

  test('a typed time range becomes the filter', async () => {
    const page = await opened([...CHECKOUT, entryOf({ message: 'old', timestamp: ago(3 * 3_600_000) })])
    await rows(page).first().waitFor()
    await page.getByRole('button', { name: 'Range' }).click()
    const field = page.getByRole('textbox', { name: 'Time range' })
    await field.fill('yesterday')
    await field.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'no time range' }).waitFor()
    await field.fill('2h')
    await field.press('Enter')
    await eventually(() => parametersOf(page)).toEqual({ last: '2h' })
    await eventually(() => rows(page).count()).toBe(3)
    await page.getByRole('button', { name: '2h', exact: true }).waitFor()
  })

  test('a frame opens in the chosen editor', async () => {
    const stack = 'Declined: no\n    at pay (/srv/shop/src/pay.ts:12:5)'
    const page = await opened([entryOf({ message: 'failed', level: 'error', error: { type: 'Declined', stack } })])
    await row(page, 'failed').click()
    const frame = detail(page).getByRole('link', { name: /pay\.ts:12:5/ })
    expect(await frame.getAttribute('href')).toBe('vscode://file/srv/shop/src/pay.ts:12:5')
    await page.keyboard.press('?')
    await page.getByRole('combobox', { name: /open in/ }).selectOption('WebStorm')
    await page.keyboard.press('Escape')
    await eventually(() => frame.getAttribute('href')).toBe(
      'webstorm://open?file=/srv/shop/src/pay.ts&line=12&column=5',
    )
    await page.evaluate('localStorage.clear()')
  })

  test('a frame of compiled code shows and opens its original place', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-page-maps-')))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const source = join(folder, 'pay.ts')
    writeFileSync(
      source,
      'interface Card { id: string }\n\nexport const pay = (card: Card) => { throw Error(card.id) }\n',
    )
    const file = join(folder, 'pay.cjs')
    await build({
      entryPoints: [source],
      outfile: file,
      sourcemap: true,
      minify: true,
      format: 'cjs',
      platform: 'node',
    })
    const { pay } = createRequire(import.meta.url)(file) as { pay: (card: { id: string }) => never }
    let stack = ''
    try {
      pay({ id: 'declined' })
    } catch (error) {
      stack = (error as Error).stack ?? ''
    }
    const compiled = /\S+pay\.cjs:1:\d+/.exec(stack)?.[0].replace('(', '') ?? ''
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'failed', level: 'error', error: { type: 'Error', stack } })])
    const page = await browser.open(service, { permissions: ['clipboard-read', 'clipboard-write'] })
    await row(page, 'failed').click()
    const frame = detail(page).getByRole('link', { name: /pay\.ts:3:44/ })
    expect(await frame.getAttribute('href')).toBe(`vscode://file${source}:3:44`)
    expect(await frame.getAttribute('title')).toContain(`compiled ${compiled}`)
    await detail(page).getByRole('button', { name: 'Copy stack' }).click()
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(stack)
    await detail(page)
      .getByRole('button', { name: /^Actions for pay\.ts/ })
      .click()
    await page.getByRole('menuitem', { name: 'Filter by this value' }).click()
    await expectRows(page, ['failed'])
  })

  test('new errors are marked in the navigation, the title and the icon, until they are looked at', async () => {
    const service = await browser.serve()
    await ingest(service, CHECKOUT)
    const page = await browser.open(service)
    await untilLive(page)
    await page.waitForTimeout(50)
    await ingest(service, [
      entryOf({ message: 'broken', level: 'error', timestamp: new Date(Date.now() + 1000).toISOString() }),
    ])
    await page
      .getByRole('link', { name: /^Errors/ })
      .getByLabel('1 new error')
      .waitFor()
    expect(await page.title()).toBe('(1) Entries · pino-ingest')
    await page.getByRole('link', { name: /^Errors/ }).click()
    await eventually(() => page.title()).toBe('Errors · pino-ingest')
  })

  test('request rows begin with the request; columns are not repeated, and durations have a unit', async () => {
    const page = await opened(CHECKOUT, '/?columns=duration,status')
    const request = row(page, '/checkout')
    await request.waitFor()
    expect(await request.innerText()).toMatch(/290 ms\s+500\s+POST\s+\/checkout$/)
    expect((await request.innerText()).match(/290 ms/g)).toHaveLength(1)
  })

  test('an entry without a message says so', async () => {
    const page = await opened([entryOf({ message: '', service: 'shop' })])
    await row(page, 'no message').waitFor()
  })

  test('feedback is marked on its entry, its error, its trace and its span', async () => {
    const service = await browser.serve()
    await ingest(service, CHECKOUT)
    const page = await browser.open(service)
    await untilLive(page)
    expect(await page.getByTitle('A user commented').count()).toBe(0)
    const { id } = service.entries({ level: ['error'] }).items[0] as { id: string }
    await call(`${service.url}/feedback`, { body: { event_id: id, comments: 'it broke' } })
    await row(page, 'card declined').getByTitle('A user commented').waitFor()
    for (const view of ['errors', 'traces']) {
      await goTo(page, `/?view=${view}`)
      await page.getByText('1 entry with a comment').waitFor()
    }
    await page.getByRole('link', { name: 'POST /checkout' }).first().click()
    // A span with an error is open.
    await page.getByRole('button', { name: /1 entry with a comment/ }).waitFor()
    await page.getByRole('link', { name: /card declined.*1 entry with a comment/ }).waitFor()
  })
})
