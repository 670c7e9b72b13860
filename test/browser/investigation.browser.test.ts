/** Investigations across several views: traces, users of an error, two versions or runs. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { ErrorGroup, ReleaseComparison, Trace } from '../../src/service/query/api-types.js'
import type { IngestService, Page as ApiPage } from '../../src/service/index.js'
import { call, entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { RICH_TRACE } from './seed-entries.js'
import { seed, SetClock } from './seed.js'
import { detail, eventually, parametersOf, rows } from './viewer.js'

describeInBrowser('an investigation', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    const clock = new SetClock()
    service = await browser.serve({ clock })
    await seed(service.url, clock)
  })

  async function opened(path: string): Promise<Page> {
    const page = await browser.open(service, { path })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await eventually(() => page.getByText('Loading …').count()).toBe(0)
    return page
  }

  async function api<T>(path: string): Promise<T> {
    const answer = await call(`${service.origin}/local/${path}`, {
      method: 'GET',
      headers: { authorization: `Bearer ${service.token}` },
    })
    expect(answer.status).toBe(200)
    return answer.json as T
  }

  const table = (page: Page, column: string): Locator =>
    page.getByRole('table').filter({ has: page.getByRole('columnheader', { name: column, exact: true }) })
  const bodyRows = (list: Locator): Locator => list.getByRole('row').filter({ has: list.page().getByRole('cell') })

  test('a trace over three services: nested spans by time, their entries, and the detail of an entry', async () => {
    const page = await opened('/?view=traces')
    const trace = await api<Trace>(`traces/${RICH_TRACE}`)
    await bodyRows(table(page, 'Trace')).first().waitFor()
    await page.getByRole('textbox').or(page.getByRole('combobox')).first().fill(`trace:${RICH_TRACE}`)
    await eventually(() => bodyRows(table(page, 'Trace')).count()).toBe(1)
    await page.getByRole('link', { name: trace.spans[0]?.name ?? '' }).click()
    expect(parametersOf(page)['trace']).toBe(RICH_TRACE)

    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('3 spans, 6 entries, 3 services').waitFor()
    const spans = timeline.locator('[data-line]')
    const texts = await spans.allInnerTexts()
    for (const [index, parts] of [
      ['web-shop', 'POST /orders', 'depth 1', '1.33 s'],
      ['inventory', 'reserved mug', 'depth 2'],
      ['payments', 'error', 'depth 2', '1.28 s'],
    ].entries())
      for (const part of parts) expect(texts[index]).toContain(part)
    await timeline.getByRole('link', { name: /cart of Jane Doe read from the database/ }).waitFor()

    // Keyboard: go to the last span, which is open because of its error, and to its second entry.
    await page.keyboard.press('j')
    expect(
      await spans.first().evaluate((element: { matches(selector: string): boolean }) => element.matches(':focus')),
    ).toBe(true)
    await spans.nth(2).focus()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await detail(page).getByRole('heading', { name: 'the order of Jane Doe could not be paid' }).waitFor()
    expect(parametersOf(page)['trace']).toBe(RICH_TRACE)

    await page.getByRole('link', { name: 'Show in the list', exact: true }).click()
    await eventually(() => rows(page).count()).toBe(6)
  })

  test('a trace that is not stored', async () => {
    const page = await browser.open(service, { path: '/?view=traces&trace=gone', tolerates: [/404.*traces\/gone/] })
    await page.getByRole('heading', { name: 'This trace is not stored' }).waitFor()
  })

  test("a user of an error links to all of the user's entries", async () => {
    const page = await opened('/?view=errors')
    const groups = (await api<ApiPage<ErrorGroup>>('error-groups')).items
    const group = groups.find(({ type }) => type === 'TypeError')
    const row = page.getByRole('row').filter({ hasText: 'TypeError' })
    const users = row.getByRole('list', { name: 'Users' }).getByRole('link')
    expect(await users.allInnerTexts()).toEqual(group?.top_users.map(({ user }) => user))
    await row.getByText(`versions ${group?.first_version} to ${group?.last_version}`).waitFor()
    for (const { type, message, is_new: isNew } of groups) {
      const shown = page
        .getByRole('row')
        .filter({ hasText: type ?? message })
        .getByText('new', { exact: true })
      expect(await shown.count(), type ?? '').toBe(isNew ? 1 : 0)
    }
    expect(groups.some((one) => one.is_new)).toBe(true)

    await users.filter({ hasText: 'u-2' }).click()
    expect(parametersOf(page)).toEqual({ q: 'user:u-2' })
    await rows(page).filter({ hasText: 'u-2' }).first().waitFor()
  })

  test('two versions: error rates, latency by route, changed errors; other sides by selection and by address', async () => {
    const [before, after] = ['service:web-shop version:2.6.0', 'service:web-shop version:2.7.0']
    const query = new URLSearchParams({ before, after }).toString()
    const page = await opened(`/?view=releases&${query}`)
    const compared = await api<ReleaseComparison>(`release-comparison?${query}`)
    const rates = page.getByRole('row', { name: /Error rate of entries/ })
    for (const side of [compared.before, compared.after])
      await rates.getByText(`${side.errors} of ${side.entries.toLocaleString('en')}`).waitFor()
    await rates.getByText('worse').waitFor()
    await page.getByRole('row', { name: /POST \/orders.*worse/ }).waitFor()
    const changed = page.getByRole('table', { name: 'Errors that changed' })
    expect(compared.groups.length).toBeGreaterThan(0)
    await eventually(() => changed.getByRole('link').count()).toBe(compared.groups.length)
    await changed.getByRole('link', { name: /PoolExhaustedError/ }).click()
    await detail(page).getByText('PoolExhaustedError').first().waitFor()

    const region = page.getByRole('region', { name: 'Comparison' })
    await region.getByLabel('Before').selectOption('web-shop 2.7.0')
    await region.getByLabel('After').selectOption('web-shop 2.6.0')
    expect(parametersOf(page)).toMatchObject({ view: 'releases', before: after, after: before })
    await rates.getByText('better').waitFor()
    await page.reload()
    await rates.getByText('better').waitFor()
  })

  test('by default, two runs are compared if no service has two versions', async () => {
    const own = await browser.serve()
    const run = (pid: number, level: 'info' | 'error') => ({
      ...entryOf({ service: 'shop', version: '1', level, metadata: { pid, hostname: 'laptop' } }),
      timestamp: new Date(Date.UTC(2026, 0, 31, pid)).toISOString(),
    })
    await ingest(own, [run(1, 'info')])
    await ingest(own, [run(2, 'error')])
    const page = await browser.open(own, { path: '/?view=releases' })
    await page.getByRole('row', { name: /Error rate of entries 0 %.*100 %/ }).waitFor()
  })
})
