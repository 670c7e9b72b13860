/** Each filter narrows the list, is part of the address, and can be removed. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { eventually, expectRows, grid, hasFocus, parametersOf, rows, searchBox, viewLink } from './viewer.js'

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

  async function opened(path = '/', tolerates: readonly RegExp[] = []): Promise<Page> {
    const page = await browser.open(service, { path, tolerates })
    await rows(page).first().waitFor()
    return page
  }

  const panel = (page: Page) => page.getByRole('region', { name: 'Fields' })

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
  })

  test('the values of a field have counts and shares, and filter or exclude', async () => {
    const page = await opened()
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await eventually(() => hasFocus(page.getByRole('textbox', { name: 'Find a field' }))).toBe(true)
    await page.keyboard.type('environ')
    await panel(page).getByRole('button', { name: 'environment 6' }).click()
    const values = panel(page).getByRole('listitem')
    await eventually(() => values.allInnerTexts()).toEqual([
      expect.stringMatching(/^production\s+5\s+83 %/),
      expect.stringMatching(/^staging\s+1\s+17 %/),
    ])
    await panel(page).getByRole('button', { name: 'Filter by staging' }).click()
    await expectRows(page, ['parcel sent'])
    expect(parametersOf(page)).toEqual({ q: 'environment:staging', field: 'environment' })
    // The selected value does not limit the others.
    await panel(page).getByRole('button', { name: 'Filter by staging', pressed: true }).click()
    await panel(page).getByRole('button', { name: 'Exclude production' }).click()
    await expectRows(page, ['parcel sent'])
    await panel(page).getByRole('button', { name: 'Exclude production', pressed: true }).click()
    await expectRows(page, ALL)
    await page.getByRole('textbox', { name: 'Find a value of environment' }).fill('st')
    await eventually(() => values.allInnerTexts()).toEqual([expect.stringContaining('staging')])
    await page.keyboard.press('Escape')
    await eventually(() => panel(page).count()).toBe(0)
    expect(await hasFocus(page.getByRole('button', { name: 'Fields', exact: true }))).toBe(true)
    expect(parametersOf(page)).toEqual({})
  })

  test('the service is selected in the toolbar; several values are alternatives', async () => {
    const page = await opened()
    await page.getByRole('button', { name: 'Service', exact: true }).click()
    for (const name of ['shipping', 'inventory']) await page.getByRole('button', { name: `Filter by ${name}` }).click()
    await expectRows(page, ['stock is low', 'parcel sent'])
    expect(parametersOf(page)['q']).toBe('service:(shipping,inventory)')
    await viewLink(page, 'Requests').click()
    await page.getByRole('button', { name: 'Service', exact: true }).click()
    await panel(page).waitFor()
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

  test('Enter takes the only value that completes the text', async () => {
    // Until it is completed, the service refuses this level.
    const page = await opened('/', [/status of 400/])
    await searchBox(page).pressSequentially('level:er')
    await page
      .getByRole('listbox', { name: 'Completions' })
      .getByRole('option', { name: /^error/ })
      .waitFor()
    await page.keyboard.press('Enter')
    await expectRows(page, ['payment failed'])
    expect(parametersOf(page)).toEqual({ q: 'level:error ' })
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

  afterEach(() => {
    // Deletes entries that the previous test added.
    if (service.counts().total === ENTRIES.length) return
    service.reset()
    return ingest(service, ENTRIES).then(() => {})
  })
})
