/** Compares the other views with the JSON API, using two hours of logs of a small shop. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type {
  ErrorGroup,
  MonitorSummary,
  ReleaseComparison,
  RouteStats,
  Trace,
} from '../../src/service/query/api-types.js'
import type { IngestService, Page as ApiPage } from '../../src/service/index.js'
import type { StoredRelease, StoredRequestLog } from '../../src/service/store/stored-record.js'
import { call } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { RICH_TRACE } from './seed-entries.js'
import { seed, SetClock } from './seed.js'
import { detail, eventually, goTo, parametersOf, row, rows, searchBox, section, viewLink } from './viewer.js'

describeInBrowser('the views', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    const clock = new SetClock()
    service = await browser.serve({ clock })
    await seed(service.url, clock)
  })

  async function opened(title: string, tolerates: readonly RegExp[] = []): Promise<Page> {
    const page = await browser.open(service, { tolerates })
    await viewLink(page, title).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    expect(parametersOf(page)).toEqual({ view: title.toLowerCase() })
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

  /** Returns the cell texts of a table's rows, without the header. */
  const cells = (table: Locator): Promise<string[][]> =>
    table.evaluate((element: { tBodies: Iterable<{ rows: Iterable<{ cells: Iterable<{ innerText: string }> }> }> }) =>
      [...element.tBodies].flatMap((body) => [...body.rows].map((one) => [...one.cells].map((cell) => cell.innerText))),
    )
  const inNumber = (text: string | undefined): number => Number((text ?? '').replaceAll(/[^\d.]/g, ''))
  const items = (page: Page): Locator => page.getByRole('main').locator('tbody tr')

  test('errors: groups have the counts, users, versions and marks of the API, and are sorted', async () => {
    const page = await opened('Errors')
    for (const [title, count] of [
      ['Entries', service.counts().total],
      ['Feedback', 2],
      ['Rejected', 3],
    ] as const)
      await viewLink(page, title)
        .filter({ hasText: count.toLocaleString('en') })
        .waitFor()
    const groups = (await api<ApiPage<ErrorGroup>>('error-groups')).items
    expect(groups.length).toBeGreaterThan(4)
    expect(groups.some((one) => one.is_new)).toBe(true)
    const table = page.getByRole('main').getByRole('table')
    await eventually(async () => (await cells(table)).length).toBe(groups.length)
    for (const [index, cell] of (await cells(table)).entries()) {
      const group = groups[index]
      for (const text of [group?.level, group?.message]) expect(cell[0]).toContain(text)
      for (const name of group?.services ?? []) expect(cell[1]).toContain(name)
      expect(inNumber(cell[4])).toBe(group?.count)
      expect(inNumber(cell[5])).toBe(group?.users)
      expect(await items(page).nth(index).getByText('new', { exact: true }).count()).toBe(
        group?.is_new === true ? 1 : 0,
      )
    }
    await table.getByRole('button', { name: 'Entries' }).click()
    expect(parametersOf(page)).toEqual({ view: 'errors', sort: 'count' })
    const counts = groups.map(({ count }) => count).toSorted((x, y) => y - x)
    const shown = async () => (await cells(table)).map((cell) => inNumber(cell[4]))
    await eventually(shown).toEqual(counts)
    await page.reload()
    await eventually(shown).toEqual(counts)
  })

  test('errors: a group links to its newest entry, to all entries, and to those of a user', async () => {
    const page = await opened('Errors')
    const group = (await api<ApiPage<ErrorGroup>>('error-groups')).items.find(({ type }) => type === 'TypeError')
    const line = page.getByRole('row').filter({ hasText: 'TypeError' })
    await line.getByText(`versions ${group?.first_version} to ${group?.last_version}`).waitFor()
    await line.getByRole('link', { name: 'TypeError' }).click()
    await detail(page).getByRole('heading', { name: 'the cart cannot be shown' }).waitFor()
    expect(parametersOf(page)).toEqual({ view: 'errors', entry: group?.newest })

    await line.getByRole('link', { name: String(group?.count) }).click()
    await eventually(() => rows(page).count()).toBeGreaterThan(1)
    expect(parametersOf(page)).toEqual({ q: `fingerprint:${group?.fingerprint}` })
    const shown = await rows(page).allInnerTexts()
    expect(shown.every((text) => text.includes('the cart cannot be shown'))).toBe(true)
    await page.getByRole('img', { name: new RegExp(`\\b${group?.count} entries`) }).waitFor()

    await page.goBack()
    const users = line.getByRole('list', { name: 'Users' }).getByRole('link')
    await eventually(() => users.allInnerTexts()).toEqual(group?.top_users.map(({ user }) => user))
    await users.filter({ hasText: 'u-2' }).click()
    expect(parametersOf(page)).toEqual({ q: 'user:u-2' })
    await row(page, 'u-2').first().waitFor()
  })

  test('traces: one over three services has nested spans by time, their entries, and the detail of an entry', async () => {
    const page = await opened('Traces', [/404.*traces\/gone/])
    const trace = await api<Trace>(`traces/${RICH_TRACE}`)
    await items(page).first().waitFor()
    await searchBox(page).fill(`trace:${RICH_TRACE}`)
    await eventually(() => items(page).count()).toBe(1)
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
    const isFocused = (element: { matches(selector: string): boolean }) => element.matches(':focus')
    expect(await spans.first().evaluate(isFocused)).toBe(true)
    await spans.nth(2).focus()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    await detail(page).getByRole('heading', { name: 'the order of Jane Doe could not be paid' }).waitFor()
    expect(parametersOf(page)['trace']).toBe(RICH_TRACE)
    await page.getByRole('link', { name: 'Show in the list', exact: true }).click()
    await eventually(() => rows(page).count()).toBe(6)
    await goTo(page, '/?view=traces&trace=gone')
    await page.getByRole('heading', { name: 'This trace is not stored' }).waitFor()
  })

  test('requests: a table by route has the counts and percentiles of the API, sorted by any column', async () => {
    const page = await opened('Requests')
    const routes = (await api<{ items: readonly RouteStats[] }>('routes')).items
    const table = page.getByRole('main').getByRole('table').first()
    await eventually(async () => (await cells(table)).length).toBe(routes.length)
    for (const cell of await cells(table)) {
      const route = routes.find((one) => cell[0] === `${one.method} ${one.route}` && cell[1] === (one.service ?? ''))
      expect(inNumber(cell[2]), cell[0]).toBe(route?.count)
      const rate = route?.error_rate ?? Number.NaN
      expect(inNumber(cell[3])).toBeCloseTo(rate * 100, rate < 0.1 ? 1 : 0)
      const ms = cell.slice(4, 7).map((text) => (text.endsWith('ms') ? inNumber(text) : inNumber(text) * 1000))
      for (const [at, name] of (['p50_ms', 'p95_ms', 'p99_ms'] as const).entries()) {
        // The page shows two or three digits.
        const wanted = route?.[name] ?? Number.NaN
        expect(Math.abs((ms[at] ?? Number.NaN) - wanted)).toBeLessThanOrEqual(wanted * 0.05 + 0.5)
      }
    }
    for (const [name, key] of [
      ['Errors', 'error_rate'],
      ['p95', 'p95_ms'],
      ['Requests', 'count'],
    ] as const) {
      const header = table.getByRole('columnheader', { name })
      await header.getByRole('button').click()
      await eventually(() => header.getAttribute('aria-sort')).toBe('descending')
      const values = (await cells(table)).map(
        (cell) => routes.find((one) => cell[0] === `${one.method} ${one.route}`)?.[key] ?? Number.NaN,
      )
      expect(values).toEqual(values.toSorted((x, y) => y - x))
    }
  })

  test('requests: a route unfolds its slowest requests in its place, and links to its entries with a chart', async () => {
    const page = await opened('Requests')
    const route = page.getByRole('button', { name: 'POST /orders' })
    await route.click()
    expect(parametersOf(page)).toEqual({ view: 'requests', open: 'web-shop POST /orders' })
    const slowest = page.getByRole('table', { name: 'Slowest requests' })
    const { items: logs } = await api<ApiPage<StoredRequestLog>>(
      'request-logs?q=method:POST+route:%2Forders&sort=duration&limit=15',
    )
    await eventually(async () => (await cells(slowest)).map((cell) => Number(cell[2]))).toEqual(
      logs.map(({ request }) => request.status_code),
    )
    await page.reload()
    await slowest.getByRole('link').first().click()
    await row(page, '/orders').first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: /p95 over time/ }).click()
    await page.getByRole('region', { name: 'Chart' }).getByRole('img').waitFor()
    await row(page, '/orders').first().waitFor()
    await page.goBack()
    await route.click()
    await slowest.waitFor({ state: 'detached' })
    expect(await page.getByRole('table', { name: 'Routes' }).getByRole('row').count()).toBeGreaterThan(5)
  })

  test('releases: registered releases with their facts, changes and entries', async () => {
    const page = await opened('Releases')
    const table = page.getByRole('table', { name: 'Registered releases' })
    await eventually(async () => (await cells(table)).map(([version]) => version)).toEqual(['2.7.0', '2.6.0'])
    const { items: releases } = await api<ApiPage<StoredRelease>>('releases')
    for (const [index, cell] of (await cells(table)).entries()) {
      const { branch, deployed_by: by, commit_hash: commit } = releases[index]?.release ?? {}
      for (const fact of [branch, by, commit?.slice(0, 7)]) expect(cell.join(' ')).toContain(fact)
    }
    await table.getByRole('button', { name: '2.7.0' }).click()
    await table.getByText('Vouchers can be combined').waitFor()
    await table.getByRole('link', { name: 'Entries of this release' }).click()
    await eventually(() => rows(page).count()).toBeGreaterThan(1)
    expect(parametersOf(page)).toEqual({ q: `release_id:${releases[0]?.release_id}` })
  })

  test('releases: two versions have error rates, latency by route and changed errors; others can be selected', async () => {
    const [before, after] = ['service:web-shop version:2.6.0', 'service:web-shop version:2.7.0']
    const query = new URLSearchParams({ before, after }).toString()
    const page = await browser.open(service, { path: `/?view=releases&${query}` })
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

  test('monitors: pings, usual intervals, and late monitors', async () => {
    const page = await opened('Monitors')
    const monitors = (await api<{ items: readonly MonitorSummary[] }>('monitors')).items
    expect(monitors.map(({ name }) => name)).toEqual(['nightly backup', null, 'stock sync'])
    for (const { monitor, name, pings, interval_ms: intervalMs } of monitors) {
      const monitored = items(page).filter({ hasText: `${name ?? ''} ${monitor}`.trim() })
      for (const text of [`${(intervalMs ?? 0) / 60_000} min`, String(pings)])
        await monitored.getByRole('cell', { name: text, exact: true }).first().waitFor()
      await monitored.getByRole('img', { name: new RegExp(`${pings} pings`) }).waitFor()
      // One of the three monitors stopped after an hour.
      await monitored.getByText(intervalMs === 4 * 60_000 ? /^late by/ : 'on time').waitFor()
    }
    expect(await page.content()).not.toContain('nightly-backup-token')
    await call(`${service.url}/heartbeat/a-fourth`)
    await eventually(() => items(page).count()).toBe(4)
    // Late monitors are first.
    await items(page).nth(1).getByText('one ping so far').waitFor()
  })

  test('feedback: comment and name, with a link to its entry', async () => {
    // One feedback refers to an unknown entry, so its request returns 404.
    const page = await opened('Feedback', [/404.*evt-nobody-knows/, /404.*entries\/x\b/])
    await eventually(() => items(page).count()).toBe(2)
    const about = items(page).filter({ hasText: 'I clicked “Pay” twice' })
    for (const text of ['Jane Doe', 'jane@example.com', 'CardDeclinedError']) await about.getByText(text).waitFor()
    await items(page)
      .filter({ hasText: 'evt-nobody-knows' })
      .getByText(/not stored/)
      .waitFor()
    await about.getByRole('button', { name: /I clicked/ }).click()
    await items(page).nth(2).getByText('My card was charged once.').waitFor()
    await items(page).getByRole('link', { name: 'CardDeclinedError' }).click()
    await section(page, 'Feedback').getByText('My card was charged once.').waitFor()
    await call(`${service.url}/feedback`, { body: { event_id: 'x', comments: 'It came while one looked' } })
    await items(page).first().getByText('It came while one looked').waitFor()
  })

  test('rejected: requests with endpoint and reasons', async () => {
    const page = await opened('Rejected')
    await eventually(() => items(page).count()).toBe(3)
    const rejected = (text: string): Locator => items(page).filter({ hasText: text })
    const nightly = rejected('nightly-import-7')
    for (const text of ['422', 'POST /ingest', '2 of 3', /logs\[1\]\.level/, /one of: debug, info, warn, error, fatal/])
      await nightly.getByText(text).first().waitFor()
    await rejected('legacy-agent').getByText('field required').waitFor()
    await rejected('POST /ingest/requests')
      .getByText(/requests\[0\]\.status_code/)
      .waitFor()
    await nightly.getByRole('button').click()
    await items(page).getByText('1 entry accepted').waitFor()
    await items(page)
      .getByText(/logs\[2\]\.timestamp/)
      .waitFor()
    await call(`${service.url}/ingest`, { body: { batch_id: 'while-looking', logs: 7 } })
    await rejected('while-looking').getByText('logs: 7').waitFor()
  })
})
