/** Each filter narrows the list, is part of the address, and can be removed. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, eventually, expectRows, parametersOf, row, rows, searchBox, section, viewLink } from './viewer.js'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 31, 8, 0, second)).toISOString()

/** Oldest first; by message, so that a test can say which rows it wants. */
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

  async function removed(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: `Remove the filter ${name}` }).click()
    await expectRows(page, ALL)
    expect(parametersOf(page)).toEqual({})
  }

  test('none: all entries, the newest on top', async () => {
    await expectRows(await opened(), ALL)
  })

  test('levels, which say how many there are, and add up', async () => {
    const page = await opened()
    const levels = page.getByRole('group', { name: 'Levels' })
    await levels.getByRole('button', { name: /^info\s*2$/ }).click()
    await expectRows(page, ['parcel sent', 'order placed'])
    expect(parametersOf(page)).toEqual({ level: 'info' })
    await levels.getByRole('button', { name: /^error\s*1$/ }).click()
    await expectRows(page, ['payment failed', 'parcel sent', 'order placed'])
    expect(parametersOf(page)['level']?.split(',').toSorted()).toEqual(['error', 'info'])
    expect(await levels.getByRole('button', { pressed: true }).count()).toBe(2)
    await removed(page, 'Level')
  })

  test.each([
    { title: 'Service', name: 'service', value: 'shop', wanted: ['no database', 'order placed', 'cart read'] },
    { title: 'Environment', name: 'environment', value: 'staging', wanted: ['parcel sent'] },
    { title: 'Version', name: 'version', value: '1.1.0', wanted: ['no database', 'payment failed', 'stock is low'] },
    { title: 'Release', name: 'release_id', value: 'rel-2', wanted: ['payment failed', 'stock is low'] },
    { title: 'Tag', name: 'tag', value: 'orders', wanted: ['parcel sent', 'order placed'] },
  ])('$title, picked from the values that occur', async ({ title, name, value, wanted }) => {
    const page = await opened()
    await pick(page, title, value)
    await expectRows(page, wanted)
    expect(parametersOf(page)).toEqual({ [name]: value })
    await removed(page, `${title} ${value}`)
  })

  test('a picker works by keyboard, finds values during typing, and accepts new ones', async () => {
    const page = await opened()
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

    await page.getByRole('button', { name: 'Service', exact: true }).press('Enter')
    await field.fill('not-yet')
    await field.press('Enter')
    await page.getByText('No entry matches').waitFor()
    expect(parametersOf(page)).toEqual({ service: 'not-yet' })
    await ingest(service, [{ ...ENTRIES[0], service: 'not-yet', message: 'now it is' }])
    await expectRows(page, ['now it is'])
  })

  test('trace, request and fingerprint, which the detail leads to', async () => {
    const page = await opened('/?service=shop')
    await row(page, 'order placed').click()
    await section(page, 'Context').getByRole('link', { name: 't-1' }).click()
    await expectRows(page, ['order placed', 'cart read'])
    expect(parametersOf(page)).toMatchObject({ trace_id: 't-1' })

    await row(page, 'order placed').click()
    await section(page, 'Context').getByRole('link', { name: 'r-1' }).click()
    await expectRows(page, ['stock is low', 'order placed'])
    expect(parametersOf(page)).toMatchObject({ request_id: 'r-1' })

    await page.goto(`${service.origin}/?level=error`)
    await row(page, 'payment failed').click()
    await section(page, 'Context').getByRole('link', { name: 'no-money' }).click()
    await expectRows(page, ['payment failed'])
    expect(parametersOf(page)).toMatchObject({ fingerprint: 'no-money' })
  })

  test('a tag of the detail leads to all that have it', async () => {
    const page = await opened('/?request_id=r-1')
    await row(page, 'order placed').click()
    await detail(page).getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'orders' }).click()
    await expectRows(page, ['parcel sent', 'order placed'])
  })

  test.each([
    { where: 'message', typed: 'PLACED', wanted: ['order placed'] },
    { where: "the error's type", typed: 'gatewayerror', wanted: ['payment failed'] },
    { where: 'the stack', typed: '/srv/pool.js', wanted: ['no database'] },
    { where: 'metadata', typed: 'northpost', wanted: ['parcel sent'] },
  ])('search in $where, whatever its case', async ({ typed, wanted }) => {
    const page = await opened()
    await searchBox(page).fill(typed)
    await expectRows(page, wanted)
    expect(parametersOf(page)).toEqual({ q: typed })
    await searchBox(page).fill('')
    await eventually(() => rows(page).count()).toBeGreaterThanOrEqual(ALL.length)
    expect(parametersOf(page)).toEqual({})
  })

  test('all together; without a match there is a hint', async () => {
    const page = await opened('/?service=shop&level=info,fatal')
    await expectRows(page, ['no database', 'order placed'])
    await searchBox(page).fill('nothing has this')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('button', { name: 'Clear all filters' }).click()
    await eventually(() => rows(page).count()).toBeGreaterThanOrEqual(ALL.length)
    expect(parametersOf(page)).toEqual({})
  })

  test('they stay while one looks at other views, and narrow those', async () => {
    const page = await opened('/?service=payments')
    await viewLink(page, 'Errors').click()
    await page.getByRole('heading', { name: 'Errors' }).waitFor()
    expect(parametersOf(page)).toEqual({ view: 'errors', service: 'payments' })
    await page.getByRole('link', { name: 'GatewayError' }).waitFor()
    expect(await page.getByText('PoolError').count()).toBe(0)
  })

  afterEach(() => {
    // Entries that a test has added are deleted before the next one.
    if (service.counts().total === ENTRIES.length) return
    service.reset()
    return ingest(service, ENTRIES).then(() => {})
  })
})
