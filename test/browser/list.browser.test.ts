/** Functions of the list: time windows, columns, context, export, saved queries, marks. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
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
  searchBox,
  untilLive,
} from './viewer.js'

/** Earlier than all entries of these tests. */
const START_MS = Date.now()
const ago = (ms: number): string => new Date(START_MS - ms).toISOString()
const MINUTE_MS = 60_000

describeInBrowser('the list', () => {
  const browser = useBrowser()

  async function opened(entries: readonly LogEntry[], path = '/') {
    const service = await browser.serve()
    await ingest(service, entries)
    const page = await browser.open(service, { path })
    await rows(page).first().waitFor()
    await untilLive(page)
    return { service, page }
  }

  test('is sorted by time, not by arrival', async () => {
    const { service, page } = await opened([entryOf({ message: 'effect', timestamp: ago(1000) })])
    await ingest(service, [entryOf({ message: 'cause', timestamp: ago(1500) })])
    await expectRows(page, ['effect', 'cause'])
    await ingest(service, [entryOf({ message: 'long ago', timestamp: ago(3 * MINUTE_MS) })])
    await expectRows(page, ['effect', 'cause', 'long ago'])
  })

  test('shows the error first and the values also beside an open entry; the list does not move', async () => {
    const error = { type: 'TypeError', message: 'no percent' }
    const request = { method: 'POST', path: '/orders', status_code: 500 }
    const { page } = await opened([
      entryOf({ message: 'voucher applied', timestamp: ago(2000), metadata: { voucher: 'BLACKFRIDAY' } }),
      entryOf({ message: 'request errored', timestamp: ago(1000), level: 'error', error, request }),
    ])
    const failed = row(page, /TypeError: no percent.*POST \/orders.*500/)
    const { y } = await boxOf(failed)
    await failed.click()
    await detail(page).waitFor()
    expect(await row(page, 'request errored').count()).toBe(0)
    const values = row(page, 'voucher applied').getByText('voucher=BLACKFRIDAY')
    expect((await boxOf(values)).width).toBeGreaterThan(100)
    expect((await boxOf(failed)).y).toBe(y)
    await searchBox(page).fill('voucher')
    await expectRows(page, ['voucher applied'])
    expect((await boxOf(row(page, 'voucher applied'))).y).toBe(y)
  })

  test('marks what a search found, or names its field', async () => {
    const { page } = await opened(
      [
        entryOf({ message: 'order 4711 failed', timestamp: ago(1000) }),
        entryOf({ message: 'paid', timestamp: ago(2000), request_id: '4711' }),
      ],
      '/?q=4711',
    )
    await expectRows(page, ['order 4711 failed', 'request_id=4711'])
    expect(await rows(page).locator('mark').allInnerTexts()).toEqual(['4711', '4711'])
  })

  test('has a line where a run started; the last one of each service can be selected', async () => {
    const start = (pid: number, message: string, timestamp: string) =>
      entryOf({ service: 'shop', message, timestamp, metadata: { pid, hostname: 'laptop' } })
    const { service, page } = await opened([start(1, 'first', ago(3000)), start(2, 'second', ago(2000))])
    const lines = grid(page).locator('.divider')
    await eventually(() => lines.allInnerTexts()).toEqual([expect.stringMatching(/^shop restarted, \d\d:\d\d:\d\d$/)])
    await ingest(service, [start(3, 'third', ago(1000))])
    await eventually(() => lines.count()).toBe(2)
    await page.getByRole('button', { name: 'Last run' }).click()
    await expectRows(page, ['third'])
    await ingest(service, [start(4, 'fourth', ago(500))])
    await expectRows(page, ['fourth'])
    await page.getByRole('button', { name: 'Last run', pressed: true }).click()
    await expectRows(page, ['fourth', 'third', 'second', 'first'])
  })

  test('a muted message hides the messages equal to it, and no others; the oldest of many mutes end', async () => {
    const message = 'paid (1/2): 3 $\nok'
    const { page } = await opened([
      entryOf({ message, timestamp: ago(1000) }),
      entryOf({ message: `not ${message}`, timestamp: ago(2000) }),
      entryOf({ message: 'x'.repeat(201), timestamp: ago(3000) }),
    ])
    const mutes = JSON.stringify(Array.from({ length: 25 }, (_, at) => `logger:${at}`))
    await page.evaluate(`localStorage.setItem('pino-ingest.mutes', ${JSON.stringify(mutes)})`)
    const actions = detail(page).getByRole('button', { name: 'Actions for Message' })
    await row(page, /^(?!.*not).*paid/).click()
    await actions.click()
    await page.getByRole('menuitem', { name: 'Mute this message' }).click()
    await expectRows(page, ['not paid', 'xxx'])
    await page.getByRole('button', { name: '20 muted' }).waitFor()
    await row(page, 'xxx').click()
    await detail(page).getByRole('heading', { name: /^xxx/ }).waitFor()
    await actions.click()
    await page.getByRole('menuitem', { name: 'Copy value' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Mute' }).count()).toBe(0)
  })

  test('leaves muted entries out, in all tabs, until they are removed from the mute list', async () => {
    const { service, page } = await opened([
      entryOf({ message: 'polled queue', timestamp: ago(1000) }),
      entryOf({ message: 'paid', timestamp: ago(2000) }),
    ])
    const other = await browser.open(service, { sharesProfileWith: page })
    await page.evaluate(
      `localStorage.setItem('pino-ingest.mutes', ${JSON.stringify(JSON.stringify(['message:"polled queue"']))})`,
    )
    await expectRows(other, ['paid'])
    expect(parametersOf(other)).toEqual({})
    await other
      .getByRole('group', { name: 'Levels' })
      .getByRole('button', { name: /^info\s*1$/ })
      .waitFor()
    await other.getByRole('button', { name: '1 muted' }).click()
    await other.getByRole('button', { name: /^Unmute/ }).click()
    await expectRows(other, ['polled queue', 'paid'])
    await eventually(() => page.evaluate(`localStorage.getItem('pino-ingest.mutes')`)).toBe('[]')
  })

  test('the last 5 minutes, and all time', async () => {
    const { page } = await opened([
      entryOf({ message: 'old', timestamp: ago(20 * MINUTE_MS) }),
      entryOf({ message: 'new', timestamp: ago(1000) }),
    ])
    await page.getByRole('button', { name: 'Last 5m' }).click()
    await expectRows(page, ['new'])
    expect(parametersOf(page)).toEqual({ last: '5m' })
    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await expectRows(page, ['new', 'old'])
  })

  test('the fields are loaded again after a failed request, once an entry arrives', async () => {
    const { service, page } = await opened([entryOf({ timestamp: ago(1000), metadata: { orderId: 1017 } })])
    await page.route('**/local/fields*', (route) => route.fulfill({ body: '' }), { times: 1 })
    const failed = page.waitForResponse('**/local/fields*')
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await failed
    await ingest(service, [entryOf({ timestamp: ago(500) })])
    await page.getByRole('button', { name: /^Column .*orderId$/ }).waitFor()
  })

  test('columns are added from the fields, and removed in their header', async () => {
    const { page } = await opened([entryOf({ message: 'paid', timestamp: ago(1000), metadata: { orderId: 1017 } })])
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.getByRole('textbox', { name: 'Find a field' }).fill('orderId')
    await page.getByRole('button', { name: /^Column .*orderId$/ }).click()
    await grid(page)
      .getByRole('columnheader', { name: /orderId/ })
      .waitFor()
    await eventually(() => row(page, 'paid').getByRole('gridcell', { name: '1017', exact: true }).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Remove the column/ }).click()
    await eventually(() => parametersOf(page)).toEqual({})
  })

  test('begins at the same height below the histogram, a chart, and while a query is refused', async () => {
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'paid', perf: { duration_ms: 3 } })])
    const page = await browser.open(service, { tolerates: [/status of 400/] })
    await rows(page).first().waitFor()
    const heights = new Set<number>()
    for (const q of ['', '| p95(duration) by service', '| p95(duration) by', 'status:>x']) {
      await goTo(page, `/?q=${encodeURIComponent(q)}`)
      await eventually(() => searchBox(page).inputValue()).toBe(q)
      heights.add((await boxOf(grid(page))).y)
    }
    expect(heights.size).toBe(1)
  })

  test('many columns scroll, and leave room for the message; their titles are short', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `metadata.field${n}`)
    const metadata = Object.fromEntries(names.map((_, n) => [`field${n}`, `value${n}`]))
    const { page } = await opened([entryOf({ message: 'paid', metadata })], `/?columns=${names.join()}`)
    expect((await boxOf(row(page, 'paid').locator('.row-text'))).width).toBeGreaterThanOrEqual(200)
    const head = grid(page).getByRole('columnheader', { name: /^field11/ })
    expect((await boxOf(head)).width).toBeGreaterThanOrEqual(90)
    await row(page, 'paid').getByText('value11').scrollIntoViewIfNeeded()
    expect((await boxOf(head)).x).toBeLessThan(1280)
    expect(await grid(page).evaluate((element) => (element as { scrollLeft: number }).scrollLeft)).toBeGreaterThan(0)
  })

  test('in a narrow window, columns are in the second line', async () => {
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'paid', metadata: { orderId: 1017 } })])
    const page = await browser.open(service, { path: '/?columns=metadata.orderId', width: 390 })
    const value = row(page, 'paid').getByText('orderId=1017')
    await value.waitFor()
    const { x, width } = await boxOf(value)
    expect(x + width).toBeLessThanOrEqual(390)
    expect(await row(page, 'paid').getByText('1017').count()).toBe(1)
  })

  test('around an entry that is not stored: a notice and a button to go back', async () => {
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'paid' })])
    const page = await browser.open(service, { path: '/?around=unknown', tolerates: [/status of 404/] })
    await page.getByRole('status').filter({ hasText: 'is not stored' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Back to the live list' }).click()
    await expectRows(page, ['paid'])
  })

  test('around an entry: unfiltered, with the entry marked and a button to go back', async () => {
    const service = await browser.serve()
    const messages = Array.from({ length: 300 }, (_, n) =>
      entryOf({ message: `step ${n}`, timestamp: ago(300_000 - n * 1000) }),
    )
    for (const from of [0, 100, 200]) await ingest(service, messages.slice(from, from + 100))
    const id = service.entries({ q: '"step 40"' }).items[0]?.id ?? ''
    const page = await browser.open(service, { path: `/?q=level:fatal&around=${id}` })
    const marked = grid(page).locator('[aria-current=true]')
    await marked.getByText('step 40', { exact: true }).waitFor()
    await row(page, 'step 41').waitFor()
    await page.getByRole('button', { name: 'Back to the filtered list' }).click()
    await page.getByText('No entry matches').waitFor()
    expect(parametersOf(page)).toEqual({ q: 'level:fatal' })
  })

  test('is exported with its filter; no URL has the token', async () => {
    const { page } = await opened(
      [
        entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) }),
        entryOf({ message: 'good', timestamp: ago(1000) }),
      ],
      '/?q=level:error',
    )
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await page.getByRole('button', { name: 'More' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as NDJSON' }).click()
    const download = await saved
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect([download.suggestedFilename(), lines.length]).toEqual(['entries.ndjson', 1])
    expect(lines[0]).toContain('"bad"')
    expect([...requested, download.url()].filter((url) => url.includes('token'))).toEqual([])
  })

  test('the focus stays next to a removed item; Escape closes a panel wherever the focus is', async () => {
    const { page } = await opened(
      [entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) })],
      '/?q=level:error+bad&columns=version,level',
    )
    const panel = page.getByRole('region', { name: 'Saved queries' })
    const press = async (name: string | RegExp): Promise<void> => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    await press('More')
    for (const name of ['one', 'two', 'three']) {
      await panel.getByRole('textbox').fill(name)
      await page.keyboard.press('Enter')
    }
    await press('Delete two')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Delete one' }))).toBe(true)
    await page.keyboard.press('Enter')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Delete three' }))).toBe(true)
    await page.keyboard.press('Enter')
    await eventually(() => hasFocus(panel.getByRole('textbox'))).toBe(true)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Escape')
    await eventually(() => panel.count()).toBe(0)

    await press('Remove the column version')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Remove the column level' }))).toBe(true)
  })

  test('queries can be saved under a name, applied and deleted', async () => {
    const { service, page } = await opened(
      [entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) })],
      '/?q=level:error',
    )
    const open = () => page.getByRole('button', { name: 'More' }).click()
    await open()
    await page.getByRole('textbox', { name: 'Name of the query' }).fill('errors')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'Saved errors' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await eventually(() => parametersOf(page)).toEqual({})
    await page.reload()
    await open()
    await page.getByRole('button', { name: /^errors/ }).click()
    await eventually(() => parametersOf(page)).toEqual({ q: 'level:error' })
    const other = await browser.open(service, { sharesProfileWith: page, path: '/?q=paid' })
    await other.getByRole('button', { name: 'More' }).click()
    await other.getByRole('textbox', { name: 'Name of the query' }).fill('paid')
    await open()
    await other.keyboard.press('Enter')
    await page.getByRole('button', { name: /^paid/ }).waitFor()
    await page.getByRole('button', { name: 'Delete paid' }).click()
    await page.getByRole('button', { name: 'Delete errors' }).click()
    await eventually(() => page.getByRole('button', { name: /^errors/ }).count()).toBe(0)
  })

  test('stays paused while another view is shown', async () => {
    const { service, page } = await opened([entryOf({ message: 'first', timestamp: ago(1000) })])
    await page.keyboard.press('p')
    await page.keyboard.press('2')
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
    await ingest(service, [entryOf({ message: 'second', timestamp: ago(500) })])
    await page.keyboard.press('1')
    await page
      .getByRole('button', { name: /^Paused/ })
      .filter({ hasText: '1' })
      .waitFor()
    await expectRows(page, ['first'])
    await page.keyboard.press('p')
    await expectRows(page, ['second', 'first'])
  })

  test('Enter moves the focus to the detail, Escape moves it back; rows have accessible names', async () => {
    const { page } = await opened([entryOf({ message: 'payment answered 502', level: 'error', timestamp: ago(1000) })])
    await grid(page)
      .getByRole('row', { name: /^Error, payment answered 502, / })
      .waitFor()
    await page.keyboard.press('j')
    expect(await hasFocus(grid(page))).toBe(true)
    await page.keyboard.press('Enter')
    await detail(page).waitFor()
    await eventually(() => hasFocus(page.locator('.detail-panel'))).toBe(true)
    await page.keyboard.press('Escape')
    await eventually(() => hasFocus(grid(page))).toBe(true)
  })
})
