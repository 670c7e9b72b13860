/** Functions of the list: time windows, columns, context, export, saved queries, marks. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, detail, eventually, expectRows, grid, hasFocus, parametersOf, row, rows, untilLive } from './viewer.js'

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

  test('is sorted by time, not by arrival; late entries are marked', async () => {
    const { service, page } = await opened([entryOf({ message: 'effect', timestamp: ago(1000) })])
    await ingest(service, [entryOf({ message: 'cause', timestamp: ago(1500) })])
    await expectRows(page, ['effect', 'cause'])
    await ingest(service, [entryOf({ message: 'long ago', timestamp: ago(3 * MINUTE_MS) })])
    await expectRows(page, ['effect', 'cause', 'long ago'])
    await row(page, 'long ago')
      .getByText(/late, (?:2|3) min/)
      .waitFor()
    expect(await row(page, 'cause').getByText('late').count()).toBe(0)
  })

  test('the last 5 minutes, and all time', async () => {
    const { page } = await opened([
      entryOf({ message: 'old', timestamp: ago(20 * MINUTE_MS) }),
      entryOf({ message: 'new', timestamp: ago(1000) }),
    ])
    await page.getByRole('button', { name: 'Last 5 min' }).click()
    await expectRows(page, ['new'])
    expect(parametersOf(page)).toEqual({ last: '5m' })
    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await expectRows(page, ['new', 'old'])
  })

  test('columns are added from the menu, and removed in their header', async () => {
    const { page } = await opened([entryOf({ message: 'paid', timestamp: ago(1000), metadata: { orderId: 1017 } })])
    await page.getByRole('button', { name: 'Columns', exact: true }).click()
    await page.getByRole('combobox', { name: /^Columns/ }).fill('orderId')
    await page.getByRole('option', { name: /orderId$/ }).click()
    await grid(page)
      .getByRole('columnheader', { name: /orderId/ })
      .waitFor()
    await eventually(() => row(page, 'paid').getByRole('gridcell', { name: '1017', exact: true }).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Remove the column/ }).click()
    await eventually(() => parametersOf(page)).toEqual({})
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
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const saved = page.waitForEvent('download')
    await page
      .getByRole('dialog', { name: 'Export' })
      .getByRole('button', { name: /^NDJSON/ })
      .click()
    const download = await saved
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect([download.suggestedFilename(), lines.length]).toEqual(['entries.ndjson', 1])
    expect(lines[0]).toContain('"bad"')
    expect([...requested, download.url()].filter((url) => url.includes('token'))).toEqual([])
  })

  test('is exported as CSV with the default and the added columns', async () => {
    const entries = [entryOf({ message: 'paid', timestamp: ago(1000), metadata: { orderId: 1017 } })]
    const { page } = await opened(entries, '/?columns=metadata.orderId,service')
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: /^CSV/ }).click()
    const [head = '', line = ''] = readFileSync(await (await saved).path(), 'utf8').split('\r\n')
    expect(head).toMatch(/^timestamp,level,service,.*message,.*metadata,metadata\.orderId$/)
    for (const text of ['paid', '1017']) expect(line).toContain(text)
  })

  test('the focus stays next to a removed item; Escape closes a panel wherever the focus is', async () => {
    const { page } = await opened(
      [entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) })],
      '/?q=level:error+bad&columns=version,level',
    )
    const panel = page.getByRole('dialog', { name: 'Saved queries' })
    const press = async (name: string | RegExp): Promise<void> => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    await press('Saved')
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
    await press('Remove the filter level:error')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Remove the filter bad' }))).toBe(true)
    await press('Clear all')
    await eventually(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  })

  test('queries can be saved under a name, applied and deleted', async () => {
    const { service, page } = await opened(
      [entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) })],
      '/?q=level:error',
    )
    const open = () => page.getByRole('button', { name: 'Saved', exact: true }).click()
    await open()
    await page.getByRole('textbox', { name: 'Name of the query' }).fill('errors')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'Saved errors' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await eventually(() => parametersOf(page)).toEqual({})
    await page.reload()
    await open()
    await page.getByRole('button', { name: /^errors/ }).click()
    await eventually(() => parametersOf(page)).toEqual({ q: 'level:error' })
    const other = await browser.open(service, { sharesProfileWith: page, path: '/?q=paid' })
    await other.getByRole('button', { name: 'Saved', exact: true }).click()
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
