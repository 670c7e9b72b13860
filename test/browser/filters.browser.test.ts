/** Each filter narrows the list, is part of the address, and can be removed. */
import { beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { eventually, expectRows, goTo, hasFocus, parametersOf, rows, searchBox, viewLink } from './viewer.js'

const one = (second: number, message: string, fields: Partial<LogEntry>): LogEntry =>
  entryOf({ message, timestamp: new Date(Date.UTC(2026, 0, 31, 8, 0, second)).toISOString(), ...fields })
const production = { environment: 'production' }

/** Oldest first. Tests select rows by message. */
const ENTRIES: readonly LogEntry[] = [
  one(0, 'cart read', { level: 'debug', service: 'shop', ...production }),
  one(1, 'order placed', { service: 'shop', ...production, tags: ['orders', 'vip'] }),
  one(2, 'parcel sent', { service: 'shipping', environment: 'staging', metadata: { carrier: { name: 'NorthPost' } } }),
  one(3, 'stock is low', { level: 'warn', service: 'inventory', ...production }),
  one(4, 'payment failed', {
    ...{ level: 'error', service: 'payments', ...production },
    error: { type: 'GatewayError', message: 'answered 503' },
  }),
  one(5, 'no database', {
    ...{ level: 'fatal', service: 'shop', ...production },
    error: { type: 'PoolError', stack: 'PoolError: exhausted\n    at acquire (/srv/pool.js:1:1)' },
  }),
]
/** As rows show them: the error is first. */
const ALL = ['no database', 'payment failed', 'stock is low', 'parcel sent', 'order placed', 'cart read']
const INFO = ['parcel sent', 'order placed']

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
  const completions = (page: Page) => page.getByRole('listbox', { name: 'Completions' })

  test('levels have counts, can be combined, and stay in other views', async () => {
    const page = await opened()
    await expectRows(page, ALL)
    const levels = page.getByRole('group', { name: 'Levels' })
    await levels.getByRole('button', { name: /^info\s*2$/ }).click()
    await expectRows(page, INFO)
    expect(parametersOf(page)).toEqual({ q: 'level:info' })
    await levels.getByRole('button', { name: /^error\s*1$/ }).click()
    await expectRows(page, ['payment failed', ...INFO])
    expect(parametersOf(page)).toEqual({ q: 'level:(info,error)' })
    expect(await levels.getByRole('button', { pressed: true }).count()).toBe(2)
    await viewLink(page, 'Errors').click()
    await page.getByRole('link', { name: 'GatewayError' }).waitFor()
    expect(parametersOf(page)).toEqual({ view: 'errors', q: 'level:(info,error)' })
    expect(await page.getByText('PoolError').count()).toBe(0)
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

    // Services are selected in the toolbar; several values are alternatives.
    await page.getByRole('button', { name: 'Service', exact: true }).click()
    for (const name of ['shipping', 'inventory']) await page.getByRole('button', { name: `Filter by ${name}` }).click()
    await expectRows(page, ['stock is low', 'parcel sent'])
    expect(parametersOf(page)['q']).toBe('service:(shipping,inventory)')
  })

  test('search in message, error type, stack and metadata ignores case; without a match, the filter can be cleared', async () => {
    const page = await opened()
    for (const [typed, wanted] of [
      ['PLACED', 'order placed'],
      ['gatewayerror', 'payment failed'],
      ['srv/pool.js', 'no database'],
      ['northpost', 'parcel sent'],
    ] as const) {
      await searchBox(page).fill(typed)
      await expectRows(page, [wanted])
      expect(parametersOf(page)).toEqual({ q: typed })
    }
    await searchBox(page).fill('service:shop level:(info,fatal)')
    await expectRows(page, ['no database', 'order placed'])
    await searchBox(page).fill('nothing has this')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await expectRows(page, ALL)
    expect(parametersOf(page)).toEqual({})
  })

  test('an invalid query shows one error with the position, keeps the rows, and sends no request', async () => {
    const page = await opened('/?q=service:shop', [/status of 400/])
    const alert = page.getByRole('alert')
    await searchBox(page).fill('service:shop AND (level:')
    // Waits for the completions, which cover the message.
    await completions(page).getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await alert.filter({ hasText: /character \d+/ }).waitFor()
    expect(await searchBox(page).getAttribute('aria-invalid')).toBe('true')
    await expectRows(page, ['no database', 'order placed', 'cart read'])
    expect(parametersOf(page)).toEqual({ q: 'service:shop' })
    await searchBox(page).fill('service:shop AND (level:info OR level:fatal)')
    await expectRows(page, ['no database', 'order placed'])
    expect(await alert.count()).toBe(0)
    for (const view of ['entries', 'errors', 'traces', 'requests', 'releases']) {
      await goTo(page, `/?view=${view}&q=shop+status:%3E%3Dx&before=1&after=2`)
      await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor()
      await alert.filter({ hasText: /character \d+/ }).waitFor()
      expect([view, await alert.count()]).toEqual([view, 1])
    }
  })

  test('fields and values are completed by keyboard', async () => {
    // Until it is completed, the service refuses this level.
    const page = await opened('/', [/status of 400/])
    const options = completions(page).getByRole('option')
    await searchBox(page).pressSequentially('serv')
    await options.filter({ hasText: /^service/ }).waitFor()
    await page.keyboard.press('Tab')
    expect(await searchBox(page).inputValue()).toBe('service:')
    await options.filter({ hasText: /^shop/ }).waitFor()
    await searchBox(page).pressSequentially('ship')
    await eventually(() => options.allInnerTexts()).toEqual([expect.stringContaining('shipping')])
    await page.keyboard.press('ArrowDown')
    expect(await searchBox(page).getAttribute('aria-activedescendant')).not.toBeNull()
    await page.keyboard.press('Enter')
    expect((await searchBox(page).inputValue()).trim()).toBe('service:shipping')
    await expectRows(page, ['parcel sent'])
    await searchBox(page).pressSequentially('lev')
    await options.filter({ hasText: /^level/ }).waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => completions(page).isVisible()).toBe(false)
    expect(await hasFocus(searchBox(page))).toBe(true)

    // Enter takes the only value that completes the text.
    await searchBox(page).fill('')
    await searchBox(page).pressSequentially('level:er')
    await options.filter({ hasText: /^error/ }).waitFor()
    await page.keyboard.press('Enter')
    await expectRows(page, ['payment failed'])
    expect(parametersOf(page)).toEqual({ q: 'level:error ' })
    // Typed text filters completions before new values are loaded.
    await searchBox(page).fill('')
    await searchBox(page).pressSequentially('service:')
    await options.filter({ hasText: /^shop/ }).waitFor()
    await page.route('**/local/values?*prefix=*', () => {})
    await searchBox(page).pressSequentially('inv')
    await page.keyboard.press('Tab')
    await eventually(() => searchBox(page).inputValue()).toBe('service:inventory ')
    await page.unrouteAll()
  })

  test('typed text is not lost by a selection before it is applied, and does not return after Back', async () => {
    const page = await opened()
    await searchBox(page).pressSequentially('placed')
    await page.getByRole('button', { name: /^info/ }).click()
    await eventually(() => parametersOf(page)).toEqual({ q: 'placed level:info' })
    // Longer than the pause after which typed text is applied.
    await page.waitForTimeout(400)
    expect(parametersOf(page)).toEqual({ q: 'placed level:info' })
    expect(await searchBox(page).inputValue()).toBe('placed level:info')
    await expectRows(page, ['order placed'])
    await searchBox(page).pressSequentially(' service:shop')
    await page.goBack()
    await eventually(() => searchBox(page).inputValue()).not.toContain('service:shop')
    await page.waitForTimeout(400)
    expect(parametersOf(page)['q'] ?? '').not.toContain('service:shop')
  })

  test('a query that can only be a mistake gets a hint, and is corrected by a click', async () => {
    const page = await opened()
    for (const [typed, corrected] of [
      ['levle:error', 'level:error'],
      ['level!=info', '-level:info'],
      ['| p95 duration by route', '| p95(duration) by route'],
    ] as const) {
      await searchBox(page).fill(typed)
      await searchBox(page).press('Enter')
      await page.getByRole('button', { name: `Search ${corrected}`, exact: true }).click()
      await eventually(() => parametersOf(page)['q']).toBe(corrected)
      await eventually(() => rows(page).count()).toBeGreaterThan(0)
    }
  })
})
