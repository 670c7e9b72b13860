/** Functions of the list: rows, time windows, columns, mutes, context, export, saved queries. */
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
    const page = await browser.open(service, { path, tolerates: [/status of 40[04]/] })
    await rows(page).first().waitFor()
    await untilLive(page)
    return { service, page }
  }

  test('is sorted by time, not by arrival, and ends at a window of time, also a typed one', async () => {
    const { service, page } = await opened([entryOf({ message: 'effect', timestamp: ago(1000) })])
    await ingest(service, [entryOf({ message: 'cause', timestamp: ago(1500) })])
    await expectRows(page, ['effect', 'cause'])
    await ingest(service, [
      entryOf({ message: 'long ago', timestamp: ago(20 * MINUTE_MS) }),
      entryOf({ message: 'before', timestamp: ago(180 * MINUTE_MS) }),
    ])
    await expectRows(page, ['effect', 'cause', 'long ago', 'before'])
    await page.getByRole('button', { name: 'Last 5m' }).click()
    await expectRows(page, ['effect', 'cause'])
    expect(parametersOf(page)).toEqual({ last: '5m' })
    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await expectRows(page, ['effect', 'cause', 'long ago', 'before'])
    await page.getByRole('button', { name: 'Range' }).click()
    const field = page.getByRole('textbox', { name: 'Time range' })
    await field.fill('yesterday')
    await field.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'no time range' }).waitFor()
    await field.fill('2h')
    await field.press('Enter')
    await eventually(() => parametersOf(page)).toEqual({ last: '2h' })
    await expectRows(page, ['effect', 'cause', 'long ago'])
    await page.getByRole('button', { name: '2h', exact: true }).waitFor()
  })

  test('a row shows the error first, and its values also beside an open entry; the list does not move', async () => {
    const error = { type: 'TypeError', message: 'no percent' }
    const request = { method: 'POST', path: '/orders', status_code: 500, duration_ms: 290 }
    const { page } = await opened([
      entryOf({ message: '', timestamp: ago(3000) }),
      entryOf({ message: 'voucher applied', timestamp: ago(2000), metadata: { voucher: 'BLACKFRIDAY' } }),
      entryOf({ message: 'request errored', timestamp: ago(1000), level: 'error', error, request }),
    ])
    await grid(page)
      .getByRole('row', { name: /^Error, .*no percent/ })
      .waitFor()
    await row(page, 'no message').waitFor()
    const failed = row(page, /TypeError: no percent.*POST \/orders.*500/)
    const { y } = await boxOf(failed)
    const { y: top } = await boxOf(grid(page))
    await failed.click()
    await detail(page).waitFor()
    expect(await row(page, 'request errored').count()).toBe(0)
    const values = row(page, 'voucher applied').getByText('voucher=BLACKFRIDAY')
    expect((await boxOf(values)).width).toBeGreaterThan(100)
    expect((await boxOf(failed)).y).toBe(y)
    await searchBox(page).fill('voucher')
    await expectRows(page, ['voucher applied'])
    expect((await boxOf(row(page, 'voucher applied'))).y).toBe(y)
    // What the search found is marked.
    expect(await rows(page).locator('mark').allInnerTexts()).toEqual(['voucher', 'voucher'])
    // Columns are not repeated.
    await goTo(page, '/?columns=duration,status&q=percent')
    const listed = row(page, 'no percent')
    await eventually(() => listed.innerText()).toMatch(/290 ms\s+500/)
    expect((await listed.innerText()).match(/290 ms/g)).toHaveLength(1)
    // The list begins at the same height below a chart, and while a query is refused.
    for (const q of ['| p95(duration) by service', '| p95(duration) by', 'status:>x']) {
      await goTo(page, `/?q=${encodeURIComponent(q)}`)
      await eventually(() => searchBox(page).inputValue()).toBe(q)
      expect((await boxOf(grid(page))).y).toBe(top)
    }
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

  test('a muted message hides the messages equal to it, in all tabs, until the mute is removed', async () => {
    const message = 'paid (1/2): 3 $\nok'
    const failed = { level: 'error', message: 'request errored' } as const
    const { service, page } = await opened([
      entryOf({ message, timestamp: ago(1000) }),
      entryOf({ message: `not ${message}`, timestamp: ago(2000) }),
      entryOf({ ...failed, error: { type: 'Error', message: 'no funds' }, timestamp: ago(3000) }),
      entryOf({ ...failed, error: { type: 'Error', message: 'no stock' }, timestamp: ago(4000) }),
    ])
    const mute = async (text: string | RegExp, name: string): Promise<void> => {
      await row(page, text).click()
      await detail(page)
        .getByRole('button', { name: `Actions for ${name}`, exact: true })
        .first()
        .click()
      await page.getByRole('menuitem', { name: 'Mute this message' }).click()
      await page.keyboard.press('Escape')
    }
    await mute(/^(?!.*not).*paid/, 'Message')
    await expectRows(page, ['not paid', 'no funds', 'no stock'])
    // By the error's message, because that of its entry is often the same for all.
    await mute('no funds', 'Error message')
    await expectRows(page, ['not paid', 'no stock'])
    const other = await browser.open(service, { sharesProfileWith: page })
    await expectRows(other, ['not paid', 'no stock'])
    expect(parametersOf(other)).toEqual({})
    await other
      .getByRole('group', { name: 'Levels' })
      .getByRole('button', { name: /^info\s*1$/ })
      .waitFor()
    await other.getByRole('button', { name: '2 muted' }).click()
    for (let n = 0; n < 2; n += 1)
      await other
        .getByRole('button', { name: /^Unmute/ })
        .first()
        .click()
    for (const tab of [other, page]) await expectRows(tab, ['paid', 'not paid', 'no funds', 'no stock'])
  })

  test('columns are added from the fields, and removed in their header', async () => {
    const { service, page } = await opened([
      entryOf({ message: 'paid', timestamp: ago(1000), metadata: { orderId: 1017 } }),
    ])
    // After a failed request, the fields are loaded again once an entry arrives.
    await page.route('**/local/fields*', (route) => route.fulfill({ body: '' }), { times: 1 })
    const failed = page.waitForResponse('**/local/fields*')
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await failed
    await ingest(service, [entryOf({ timestamp: ago(2000) })])
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

  test('around an entry: unfiltered, with the entry marked and a button to go back; or a notice if it is not stored', async () => {
    const messages = Array.from({ length: 100 }, (_, n) =>
      entryOf({ message: `step ${n}`, timestamp: ago(300_000 - n * 1000) }),
    )
    const { service, page } = await opened(messages)
    const id = service.entries({ q: '"step 40"' }).items[0]?.id ?? ''
    await goTo(page, `/?q=level:fatal&around=${id}`)
    await grid(page).locator('[aria-current=true]').getByText('step 40', { exact: true }).waitFor()
    await row(page, 'step 41').waitFor()
    await page.getByRole('button', { name: 'Back to the filtered list' }).click()
    await page.getByText('No entry matches').waitFor()
    expect(parametersOf(page)).toEqual({ q: 'level:fatal' })
    await goTo(page, '/?around=unknown')
    await page.getByRole('status').filter({ hasText: 'is not stored' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Back to the live list' }).click()
    await row(page, 'step 99').waitFor()
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

  test('queries can be saved under a name, applied and deleted, in all tabs; the focus stays next to a removed item', async () => {
    const { service, page } = await opened(
      [entryOf({ message: 'bad', level: 'error', timestamp: ago(2000) })],
      '/?q=level:error&columns=version,level',
    )
    const panel = page.getByRole('region', { name: 'Saved queries' })
    const press = async (name: string | RegExp): Promise<void> => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    const open = async (): Promise<void> => {
      await press('More')
      // An open panel takes the focus, which must not happen between the focus of a button and its key.
      await eventually(() => page.evaluate("document.activeElement.closest('[popover]') !== null")).toBe(true)
    }
    await press('Remove the column version')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Remove the column level' }))).toBe(true)
    await page.keyboard.press('Enter')
    await open()
    for (const name of ['one', 'two', 'three']) {
      await panel.getByRole('textbox').fill(name)
      await page.keyboard.press('Enter')
    }
    await page.getByRole('status').filter({ hasText: 'Saved three' }).waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Escape')
    await eventually(() => panel.count()).toBe(0)
    const other = await browser.open(service, { sharesProfileWith: page })
    await other.getByRole('button', { name: 'More' }).click()
    await other.getByRole('button', { name: /^two/ }).click()
    await eventually(() => parametersOf(other)).toEqual({ q: 'level:error' })
    await page.bringToFront()
    await open()
    await press('Delete two')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Delete one' }))).toBe(true)
    await page.keyboard.press('Enter')
    await eventually(() => hasFocus(page.getByRole('button', { name: 'Delete three' }))).toBe(true)
    await page.keyboard.press('Enter')
    await eventually(() => hasFocus(panel.getByRole('textbox'))).toBe(true)
    await other.getByRole('button', { name: 'More' }).click()
    await other.getByRole('textbox', { name: 'Name of the query' }).waitFor()
    expect(await other.getByRole('button', { name: /^Delete (?:one|two|three)/ }).count()).toBe(0)
  })

  test('clear says what goes, and deletes it', async () => {
    const { page } = await opened([entryOf({}), entryOf({})])
    const clear = page.getByRole('button', { name: 'Delete all records', exact: true })
    const dialog = page.getByRole('dialog', { name: 'Delete all records' })
    await clear.click()
    await dialog.getByText('2 entries').waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => dialog.count()).toBe(0)
    expect(await rows(page).count()).toBe(2)
    await clear.click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await eventually(() => rows(page).count()).toBe(0)
    await eventually(() => dialog.count()).toBe(0)
  })
})
