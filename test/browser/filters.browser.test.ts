/** Each filter narrows the list, is part of the address, and can be removed. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import {
  detail,
  eventually,
  expectRows,
  grid,
  hasFocus,
  openFilters,
  parametersOf,
  row,
  rows,
  searchBox,
  section,
  viewLink,
} from './viewer.js'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 31, 8, 0, second)).toISOString()

/** Oldest first. Tests select rows by message. */
const ENTRIES: readonly LogEntry[] = [
  {
    level: 'debug',
    message: 'cart read',
    timestamp: at(0),
    service: 'shop',
    environment: 'production',
    version: '1.0.0',
    trace: { trace_id: 't-1' },
  },
  {
    level: 'info',
    message: 'order placed',
    timestamp: at(1),
    service: 'shop',
    environment: 'production',
    version: '1.0.0',
    tags: ['orders', 'vip'],
    request_id: 'r-1',
    trace: { trace_id: 't-1' },
  },
  {
    level: 'info',
    message: 'parcel sent',
    timestamp: at(2),
    service: 'shipping',
    environment: 'staging',
    version: '1.0.0',
    tags: ['orders'],
    metadata: { carrier: { name: 'NorthPost' } },
  },
  {
    level: 'warn',
    message: 'stock is low',
    timestamp: at(3),
    service: 'inventory',
    environment: 'production',
    version: '1.1.0',
    release_id: 'rel-2',
    request_id: 'r-1',
  },
  {
    level: 'error',
    message: 'payment failed',
    timestamp: at(4),
    service: 'payments',
    environment: 'production',
    version: '1.1.0',
    release_id: 'rel-2',
    fingerprint: 'no-money',
    error: { type: 'GatewayError', message: 'answered 503' },
  },
  {
    level: 'fatal',
    message: 'no database',
    timestamp: at(5),
    service: 'shop',
    environment: 'production',
    version: '1.1.0',
    error: {
      type: 'PoolError',
      message: 'exhausted',
      stack: 'PoolError: exhausted\n    at acquire (/srv/pool.js:1:1)',
    },
  },
]
const ALL = ENTRIES.map(({ message }) => message).toReversed()

describeInBrowser('filters', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    expect((await ingest(service, ENTRIES)).status).toBe(200)
  })

  async function opened(path = '/'): Promise<Page> {
    const page = await browser.open(service, { path })
    await rows(page).first().waitFor()
    return page
  }

  async function pick(page: Page, title: string, value: string): Promise<void> {
    await page.getByRole('button', { name: title, exact: true }).click()
    await page.getByRole('listbox', { name: title }).getByRole('option', { name: value }).click()
  }

  async function removed(page: Page, term: string): Promise<void> {
    await page.getByRole('button', { name: `Remove the filter ${term}` }).click()
    await expectRows(page, ALL)
    expect(parametersOf(page)).toEqual({})
  }

  test('no filter: all entries, newest first', async () => {
    await expectRows(await opened(), ALL)
  })

  test('levels have counts, and can be combined', async () => {
    const page = await opened()
    const levels = page.getByRole('group', { name: 'Levels' })
    await levels.getByRole('button', { name: /^info\s*2$/ }).click()
    await expectRows(page, ['parcel sent', 'order placed'])
    expect(parametersOf(page)).toEqual({ q: 'level:info' })
    await levels.getByRole('button', { name: /^error\s*1$/ }).click()
    await expectRows(page, ['payment failed', 'parcel sent', 'order placed'])
    expect(parametersOf(page)).toEqual({ q: 'level:(info,error)' })
    expect(await levels.getByRole('button', { pressed: true }).count()).toBe(2)
    await removed(page, 'level:(info,error)')
  })

  test.each([
    { title: 'Service', name: 'service', value: 'shop', wanted: ['no database', 'order placed', 'cart read'] },
    { title: 'Environment', name: 'environment', value: 'staging', wanted: ['parcel sent'] },
    { title: 'Version', name: 'version', value: '1.1.0', wanted: ['no database', 'payment failed', 'stock is low'] },
    { title: 'Release', name: 'release_id', value: 'rel-2', wanted: ['payment failed', 'stock is low'] },
    { title: 'Tag', name: 'tag', value: 'orders', wanted: ['parcel sent', 'order placed'] },
  ])('$title, selected from stored values', async ({ title, name, value, wanted }) => {
    const page = await opened()
    await openFilters(page)
    await pick(page, title, value)
    await expectRows(page, wanted)
    expect(parametersOf(page)).toEqual({ q: `${name}:${value}` })
    await page.keyboard.press('Escape')
    await removed(page, `${name}:${value}`)
  })

  test('a picker works by keyboard, filters values during typing, and accepts new ones', async () => {
    const page = await opened()
    await openFilters(page)
    await page.getByRole('button', { name: 'Service', exact: true }).press('Enter')
    const field = page.getByRole('combobox', { name: /^Service/ })
    await field.fill('ship')
    const options = page.getByRole('listbox', { name: 'Service' }).getByRole('option')
    await eventually(() => options.allInnerTexts()).toEqual([
      expect.stringContaining('shipping'),
      expect.stringContaining('ship'),
    ])
    await field.press('Enter')
    await expectRows(page, ['parcel sent'])
    expect(await options.first().getAttribute('aria-selected')).toBe('true')

    // The list stays open for selecting or removing several values.
    await field.press('Enter')
    await eventually(() => parametersOf(page)).toEqual({})
    await field.fill('not-yet')
    await field.press('Enter')
    await page.getByText('No entry matches').waitFor()
    await field.press('Escape')
    expect(await hasFocus(page.getByRole('button', { name: /^Service/ }))).toBe(true)
    expect(parametersOf(page)).toEqual({ q: 'service:not-yet' })
    await ingest(service, [{ ...ENTRIES[0], service: 'not-yet', message: 'now it is' }])
    await expectRows(page, ['now it is'])
  })

  test('Tab leaves a picker for the next control, Shift and Tab for its button, and closes it', async () => {
    const page = await opened()
    await openFilters(page)
    const picker = (name: string) => page.getByRole('button', { name, exact: true })
    for (const [key, next] of [
      ['Tab', 'Environment'],
      ['Shift+Tab', 'Service'],
    ] as const) {
      await picker('Service').press('Enter')
      await page.getByRole('combobox', { name: /^Service/ }).press(key)
      await eventually(() => hasFocus(picker(next))).toBe(true)
      await eventually(() => page.getByRole('listbox', { name: 'Service' }).count()).toBe(0)
    }
  })

  test('trace, request and fingerprint, by links in the detail', async () => {
    const page = await opened('/?q=service:shop')
    await row(page, 'order placed').click()
    await section(page, 'Context').getByRole('link', { name: 't-1' }).click()
    await expectRows(page, ['order placed', 'cart read'])
    expect(parametersOf(page)).toMatchObject({ q: 'trace_id:t-1' })

    await row(page, 'order placed').click()
    await section(page, 'Context').getByRole('link', { name: 'r-1' }).click()
    await expectRows(page, ['stock is low', 'order placed'])
    expect(parametersOf(page)).toMatchObject({ q: 'request_id:r-1' })

    await page.goto(`${service.origin}/?q=level:error`)
    await row(page, 'payment failed').click()
    await section(page, 'Context').getByRole('link', { name: 'no-money' }).click()
    await expectRows(page, ['payment failed'])
    expect(parametersOf(page)).toMatchObject({ q: 'fingerprint:no-money' })
  })

  test('a tag in the detail links to all entries with it, and keeps the filter', async () => {
    const page = await opened('/?q=request_id:r-1')
    await row(page, 'order placed').click()
    await detail(page).getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'orders' }).click()
    await expectRows(page, ['order placed'])
  })

  test.each([
    { where: 'message', typed: 'PLACED', wanted: ['order placed'] },
    { where: "the error's type", typed: 'gatewayerror', wanted: ['payment failed'] },
    { where: 'the stack', typed: 'srv/pool.js', wanted: ['no database'] },
    { where: 'metadata', typed: 'northpost', wanted: ['parcel sent'] },
  ])('search in $where ignores case', async ({ typed, wanted }) => {
    const page = await opened()
    await searchBox(page).fill(typed)
    await expectRows(page, wanted)
    expect(parametersOf(page)).toEqual({ q: typed })
    await searchBox(page).fill('')
    await eventually(() => rows(page).count()).toBeGreaterThanOrEqual(ALL.length)
    expect(parametersOf(page)).toEqual({})
  })

  test('all filters combined; a hint is shown without a match', async () => {
    const page = await opened('/?q=service:shop+level:(info,fatal)')
    await expectRows(page, ['no database', 'order placed'])
    await searchBox(page).fill('nothing has this')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await eventually(() => rows(page).count()).toBeGreaterThanOrEqual(ALL.length)
    expect(parametersOf(page)).toEqual({})
  })

  test('filters stay in other views, and apply there too', async () => {
    const page = await opened('/?q=service:payments')
    await viewLink(page, 'Errors').click()
    await page.getByRole('heading', { name: 'Errors' }).waitFor()
    expect(parametersOf(page)).toEqual({ view: 'errors', q: 'service:payments' })
    await page.getByRole('link', { name: 'GatewayError' }).waitFor()
    expect(await page.getByText('PoolError').count()).toBe(0)
  })

  test('an invalid query shows an error with the position, keeps the rows, and sends no request', async () => {
    const page = await opened('/?q=service:shop')
    await searchBox(page).fill('service:shop AND (level:')
    // Waits for the completions, which cover the message.
    await page.getByRole('listbox', { name: 'Completions' }).getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page
      .getByRole('alert')
      .filter({ hasText: /character \d+/ })
      .waitFor()
    expect(await searchBox(page).getAttribute('aria-invalid')).toBe('true')
    await expectRows(page, ['no database', 'order placed', 'cart read'])
    expect(parametersOf(page)).toEqual({ q: 'service:shop' })
    await searchBox(page).fill('service:shop AND (level:info OR level:fatal)')
    await expectRows(page, ['no database', 'order placed'])
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('an invalid query in the address shows its error below the field', async () => {
    const page = await browser.open(service, { path: '/?q=level:(', tolerates: [/status of 400/] })
    await page
      .getByRole('alert')
      .filter({ hasText: /character \d+/ })
      .waitFor()
    expect(await page.getByRole('alert').count()).toBe(1)
  })

  test('fields and values are completed by keyboard', async () => {
    const page = await opened()
    await searchBox(page).pressSequentially('serv')
    const list = page.getByRole('listbox', { name: 'Completions' })
    await list.getByRole('option', { name: /^service/ }).waitFor()
    await page.keyboard.press('Tab')
    expect(await searchBox(page).inputValue()).toBe('service:')
    await list.getByRole('option', { name: /^shop/ }).waitFor()
    await searchBox(page).pressSequentially('ship')
    await eventually(() => list.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining('shipping')])
    await page.keyboard.press('ArrowDown')
    expect(await searchBox(page).getAttribute('aria-activedescendant')).not.toBeNull()
    await page.keyboard.press('Enter')
    expect((await searchBox(page).inputValue()).trim()).toBe('service:shipping')
    await expectRows(page, ['parcel sent'])
    await searchBox(page).pressSequentially('lev')
    await list.getByRole('option', { name: /^level/ }).waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => list.isVisible()).toBe(false)
    expect(await hasFocus(searchBox(page))).toBe(true)
  })

  test('typed text filters completions, also before new values are loaded', async () => {
    const page = await opened()
    await searchBox(page).pressSequentially('service:')
    const list = page.getByRole('listbox', { name: 'Completions' })
    await list.getByRole('option', { name: /^shop/ }).waitFor()
    await page.route('**/local/values?*prefix=*', () => {})
    await searchBox(page).pressSequentially('inv')
    await page.keyboard.press('Tab')
    await eventually(() => searchBox(page).inputValue()).toBe('service:inventory ')
  })

  test('a level selected during typing is added to the typed query', async () => {
    const page = await opened()
    await searchBox(page).pressSequentially('placed')
    await page.getByRole('button', { name: /^info/ }).click()
    await eventually(() => parametersOf(page)).toEqual({ q: 'placed level:info' })
    await page.waitForTimeout(400)
    expect(parametersOf(page)).toEqual({ q: 'placed level:info' })
    expect(await searchBox(page).inputValue()).toBe('placed level:info')
    await expectRows(page, ['order placed'])
  })

  test('typed text that is not applied yet does not replace the query after Back', async () => {
    const page = await opened()
    await page.getByRole('button', { name: /^info/ }).click()
    await eventually(() => parametersOf(page)).toEqual({ q: 'level:info' })
    await searchBox(page).pressSequentially(' placed')
    await page.goBack()
    await eventually(() => searchBox(page).inputValue()).toBe('')
    await page.waitForTimeout(400)
    expect(parametersOf(page)).toEqual({})
  })

  test('a selected row that no longer matches does not hold the list', async () => {
    const page = await opened()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await grid(page).locator('[aria-selected=true]').waitFor()
    await page.getByRole('button', { name: /^info/ }).click()
    await expectRows(page, ['parcel sent', 'order placed'])
    await ingest(service, [{ level: 'info', message: 'order paid', timestamp: at(9), service: 'shop' }])
    await expectRows(page, ['order paid', 'parcel sent', 'order placed'])
  })

  test('the list is marked as busy while another query loads', async () => {
    const page = await opened()
    let answer = (): void => {}
    const isAnswered = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/local/entries?*', async (route) => {
      await isAnswered
      await route.continue()
    })
    expect(await grid(page).getAttribute('aria-busy')).toBe('false')
    await page.getByRole('button', { name: /^info/ }).click()
    await eventually(() => grid(page).getAttribute('aria-busy')).toBe('true')
    await expectRows(page, ALL)
    answer()
    await expectRows(page, ['parcel sent', 'order placed'])
    expect(await grid(page).getAttribute('aria-busy')).toBe('false')
  })

  test('an excluded value is marked as such in its chip and its picker', async () => {
    const page = await opened('/?q=-service:shop')
    await expectRows(page, ['payment failed', 'stock is low', 'parcel sent'])
    await page.getByRole('group', { name: 'Active filters' }).getByText('not', { exact: true }).waitFor()
    await openFilters(page)
    await page.getByRole('button', { name: 'Service', exact: true }).click()
    await page.getByRole('listbox', { name: 'Service' }).getByRole('option', { name: 'not shop' }).click()
    await expectRows(page, ['no database', 'order placed', 'cart read'])
    expect(parametersOf(page)).toEqual({ q: 'service:shop' })
  })

  afterEach(() => {
    // Deletes entries that the previous test added.
    if (service.counts().total === ENTRIES.length) return
    service.reset()
    return ingest(service, ENTRIES).then(() => {})
  })
})
