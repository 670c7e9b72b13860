/** Investigations across several views: traces, single requests, users of an error, two versions. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { ErrorGroup, ReleaseComparison, Trace } from '../../src/service/query/api-types.js'
import type { IngestService, Page as ApiPage } from '../../src/service/index.js'
import type { StoredRequestLog } from '../../src/service/store/stored-record.js'
import { call } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { RICH_TRACE } from './seed-entries.js'
import { seed, SetClock } from './seed.js'
import { boxOf, detail, eventually, parametersOf, rows, section, viewLink } from './viewer.js'

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

  test('a slow request: from the route to its slowest request and the entries of that request', async () => {
    const page = await opened('/')
    await viewLink(page, 'Requests').click()
    await page.getByRole('link', { name: 'POST /orders', exact: true }).first().click()
    const panel = page.getByRole('region', { name: 'Latency of web-shop POST /orders' })
    const slowest = await api<ApiPage<StoredRequestLog>>(
      `request-logs?sort=duration&limit=15&q=${encodeURIComponent('method:POST route:"/orders"')}`,
    )
    const requests = bodyRows(table(page, 'Duration'))
    await eventually(() => requests.count()).toBe(15)
    const links = panel.getByRole('link', { name: 'POST /orders' })
    expect(await links.first().getAttribute('title')).toContain(slowest.items[0]?.request.request_id)

    await page.getByRole('button', { name: 'Over 1 s' }).click()
    expect(parametersOf(page)).toEqual({
      view: 'requests',
      q: 'duration:>1000',
      route: 'POST /orders',
      service: 'web-shop',
    })
    expect(await page.getByRole('button', { name: 'Over 1 s' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: '5xx', exact: true }).click()
    expect(parametersOf(page)['q']).toBe('duration:>1000 status:>=500')
    await eventually(async () =>
      (await requests.allInnerTexts()).every((text) => /^[12]\.?\d* s\s+50\d/.test(text)),
    ).toBe(true)

    await links.first().click()
    await eventually(() => rows(page).count()).toBeGreaterThan(2)
    expect(parametersOf(page)['q']).toMatch(/^request_id:/)
  })

  test('a click on the latency plot shows the requests of that time; the table has links for it', async () => {
    const page = await opened('/?view=requests&route=POST+%2Forders')
    const plot = page.getByRole('img', { name: /^Latency of POST/ })
    const { x, y, width } = await boxOf(plot)
    await page.mouse.click(x + 56 + (width - 68) * 0.71, y + 60)
    await eventually(() => parametersOf(page)['since']).toBeDefined()
    const { since = '', until = '', route } = parametersOf(page)
    expect(route).toBe('POST /orders')
    const logs = await api<ApiPage<StoredRequestLog>>(
      `request-logs?limit=1000&since=${since}&until=${until}&q=${encodeURIComponent('method:POST route:"/orders"')}`,
    )
    expect(logs.items.length).toBeGreaterThan(0)
    await eventually(() => bodyRows(table(page, 'Duration')).count()).toBe(Math.min(15, logs.items.length))

    await page.goBack()
    await page.getByText('As a table').click()
    await page.getByRole('region', { name: 'Latency as a table' }).getByRole('link').nth(3).click()
    await eventually(() => parametersOf(page)['since']).toBeDefined()
  })

  test('a trace over three services: nested spans by time, their entries, and the detail of an entry', async () => {
    const page = await opened('/?view=traces')
    const trace = await api<Trace>(`traces/${RICH_TRACE}`)
    await bodyRows(table(page, 'Trace')).first().waitFor()
    await page.getByRole('textbox').or(page.getByRole('combobox')).first().fill(`trace:${RICH_TRACE}`)
    await eventually(() => bodyRows(table(page, 'Trace')).count()).toBe(1)
    await page.getByRole('link', { name: trace.spans[0]?.name ?? '' }).click()
    expect(parametersOf(page)['trace']).toBe(RICH_TRACE)

    const waterfall = page.getByRole('region', { name: 'Waterfall' })
    await waterfall.getByText('3 spans, 6 entries, 3 services').waitFor()
    const spans = waterfall.getByRole('button', { expanded: false })
    const texts = await spans.allInnerTexts()
    for (const [index, parts] of [
      ['web-shop', 'POST /orders', 'depth 1', '1.33 s'],
      ['inventory', 'reserved mug', 'depth 2'],
      ['payments', 'error', 'depth 2', '1.28 s'],
    ].entries())
      for (const part of parts) expect(texts[index]).toContain(part)
    await waterfall.getByRole('link', { name: /cart of Jane Doe read from the database/ }).waitFor()

    // Keyboard: go to the last span, open it, and go to its second entry.
    await page.keyboard.press('j')
    expect(
      await spans.first().evaluate((element: { matches(selector: string): boolean }) => element.matches(':focus')),
    ).toBe(true)
    await spans.nth(2).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await detail(page).getByRole('heading', { name: 'the order of Jane Doe could not be paid' }).waitFor()
    expect(parametersOf(page)['trace']).toBe(RICH_TRACE)

    await page.getByRole('link', { name: 'Show in the list' }).click()
    await eventually(() => rows(page).count()).toBe(6)
  })

  test('a trace that is not stored', async () => {
    const page = await browser.open(service, { path: '/?view=traces&trace=gone', tolerates: [/404.*traces\/gone/] })
    await page.getByRole('heading', { name: 'This trace is not stored' }).waitFor()
  })

  test("a user of an error links to all of the user's errors", async () => {
    const page = await opened('/?view=errors')
    const groups = (await api<ApiPage<ErrorGroup>>('error-groups')).items
    const group = groups.find(({ type }) => type === 'TypeError')
    const row = page.getByRole('row').filter({ hasText: 'TypeError' })
    const users = row.getByRole('list', { name: 'Users' }).getByRole('link')
    expect(await users.allInnerTexts()).toEqual(group?.top_users.map(({ user }) => user))
    await row.getByText(`versions ${group?.first_version} to ${group?.last_version}`).waitFor()
    for (const { type, is_new: isNew } of groups) {
      const shown = page
        .getByRole('row')
        .filter({ hasText: type ?? 'No error type' })
        .getByText('new', { exact: true })
      expect(await shown.count(), type ?? '').toBe(isNew ? 1 : 0)
    }
    expect(groups.some((one) => one.is_new)).toBe(true)

    await users.filter({ hasText: 'u-2' }).click()
    expect(parametersOf(page)).toEqual({ view: 'errors', q: 'user:u-2' })
    const ofUser = (await api<ApiPage<ErrorGroup>>('error-groups?q=user%3Au-2')).items
    expect(ofUser.length).toBeLessThan(groups.length)
    await eventually(() => bodyRows(table(page, 'Trend')).count()).toBe(ofUser.length)
  })

  test('two versions: error rates, latency by route, new errors; other versions by selection and by address', async () => {
    const page = await opened('/?view=releases')
    const compared = await api<ReleaseComparison>('release-comparison?before=2.6.0&after=2.7.0')
    const region = page.getByRole('region', { name: 'Comparison of two versions' })
    const rates = region.getByRole('row', { name: /Error rate of entries/ })
    const { before, after } = compared
    for (const side of [before, after])
      await rates.getByText(`${side.errors} of ${side.entries.toLocaleString('en')}`).waitFor()
    await rates.getByText('worse').waitFor()
    await region.getByRole('row', { name: /POST \/orders.*worse/ }).waitFor()
    const fresh = region.getByRole('region', { name: 'New errors' })
    await eventually(() => fresh.getByRole('link').count()).toBe(compared.new_groups.length)
    expect(compared.new_groups.length).toBeGreaterThan(0)
    await fresh.getByRole('link', { name: /CardDeclinedError/ }).click()
    await section(page, 'Error').getByText('CardDeclinedError').first().waitFor()

    await region.getByLabel('Before').selectOption('2.7.0')
    await region.getByLabel('After').selectOption('2.6.0')
    expect(parametersOf(page)).toMatchObject({ view: 'releases', before: '2.7.0', after: '2.6.0' })
    await rates.getByText('better').waitFor()
    const again = await opened('/?view=releases&before=2.7.0&after=2.6.0')
    await again.getByRole('row', { name: /Error rate of entries.*better/ }).waitFor()
  })
})
