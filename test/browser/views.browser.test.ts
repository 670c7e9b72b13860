/** Compares the other views with the JSON API, using two hours of logs of a small shop. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { ErrorGroup, MonitorSummary, RouteStats } from '../../src/service/query/api-types.js'
import type { IngestService } from '../../src/service/index.js'
import type { Page as ApiPage } from '../../src/service/index.js'
import type { StoredRelease, StoredRequestLog } from '../../src/service/store/stored-record.js'
import { call, entryOf, ingest, requestLog } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { seed, SetClock } from './seed.js'
import { boxOf, detail, eventually, parametersOf, rows, section, viewLink } from './viewer.js'

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
      [...element.tBodies].flatMap((body) => [...body.rows].map((row) => [...row.cells].map((cell) => cell.innerText))),
    )
  const inNumber = (text: string | undefined): number => Number((text ?? '').replaceAll(/[^\d.]/g, ''))
  const items = (page: Page): Locator => page.getByRole('main').locator('tbody tr')

  test('headings of the views have counts', async () => {
    const page = await browser.open(service)
    for (const [title, count] of [
      ['Entries', service.counts().total],
      ['Feedback', 2],
      ['Rejected', 3],
    ] as const) {
      await viewLink(page, title)
        .filter({ hasText: count.toLocaleString('en') })
        .waitFor()
    }
  })

  test('errors: groups have the counts, users and times of the API', async () => {
    const page = await opened('Errors')
    const groups = (await api<ApiPage<ErrorGroup>>('error-groups')).items
    expect(groups.length).toBeGreaterThan(4)
    const table = page.getByRole('main').getByRole('table')
    await eventually(async () => (await cells(table)).length).toBe(groups.length)
    for (const [index, row] of (await cells(table)).entries()) {
      const group = groups[index]
      for (const text of [group?.level, group?.message]) expect(row[0]).toContain(text)
      for (const name of group?.services ?? []) expect(row[1]).toContain(name)
      expect(inNumber(row[4])).toBe(group?.count)
      expect(inNumber(row[5])).toBe(group?.users)
    }
    expect(await table.getByRole('img').count()).toBe(groups.length)

    await table.getByRole('button', { name: 'Entries' }).click()
    expect(parametersOf(page)).toEqual({ view: 'errors', sort: 'count' })
    const counts = groups.map(({ count }) => count).toSorted((x, y) => y - x)
    const shown = async () => (await cells(table)).map((cell) => inNumber(cell[4]))
    await eventually(shown).toEqual(counts)
    await page.reload()
    await eventually(shown).toEqual(counts)
  })

  test('errors: a group links to its newest entry and to all entries', async () => {
    const page = await opened('Errors')
    const group = (await api<ApiPage<ErrorGroup>>('error-groups')).items.find(({ type }) => type === 'TypeError')
    const row = page.getByRole('row').filter({ hasText: 'TypeError' })
    await row.getByRole('link', { name: 'TypeError' }).click()
    await detail(page).getByRole('heading', { name: 'the cart cannot be shown' }).waitFor()
    expect(parametersOf(page)).toEqual({ view: 'errors', entry: group?.newest })

    await row.getByRole('link', { name: String(group?.count) }).click()
    await eventually(() => rows(page).count()).toBeGreaterThan(1)
    expect(parametersOf(page)).toEqual({ q: `fingerprint:${group?.fingerprint}` })
    const shown = await rows(page).allInnerTexts()
    expect(shown.every((text) => text.includes('the cart cannot be shown'))).toBe(true)
    await page.getByRole('img', { name: new RegExp(`\\b${group?.count} entries`) }).waitFor()
  })

  test('requests: a table by route has the counts and percentiles of the API, sorted by any column', async () => {
    const page = await opened('Requests')
    const routes = (await api<{ items: readonly RouteStats[] }>('routes')).items
    const table = page.getByRole('main').getByRole('table').first()
    await eventually(async () => (await cells(table)).length).toBe(routes.length)
    for (const row of await cells(table)) {
      const route = routes.find((one) => row[0] === `${one.method} ${one.route}` && row[1] === (one.service ?? ''))
      expect(inNumber(row[2]), row[0]).toBe(route?.count)
      expect(inNumber(row[3])).toBeCloseTo(
        (route?.error_rate ?? Number.NaN) * 100,
        (route?.error_rate ?? 0) < 0.1 ? 1 : 0,
      )
      const ms = row.slice(4, 7).map((text) => (text.endsWith('ms') ? inNumber(text) : inNumber(text) * 1000))
      for (const [at, name] of (['p50_ms', 'p95_ms', 'p99_ms'] as const).entries()) {
        // The page shows two or three digits.
        expect(Math.abs((ms[at] ?? Number.NaN) - (route?.[name] ?? Number.NaN))).toBeLessThanOrEqual(
          (route?.[name] ?? 0) * 0.05 + 0.5,
        )
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
      const sorted = routes.toSorted((x, y) => y[key] - x[key])
      expect((await cells(table)).map((cell) => cell[0])).toEqual(sorted.map((one) => `${one.method} ${one.route}`))
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
    await eventually(async () => (await cells(slowest)).length).toBe(15)
    expect((await cells(slowest)).map((cell) => Number(cell[2]))).toEqual(
      logs.map(({ request }) => request.status_code),
    )
    await page.reload()
    await slowest.getByRole('link').first().click()
    await rows(page).filter({ hasText: '/orders' }).first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: /p95 over time/ }).click()
    await page.getByRole('region', { name: 'Chart' }).getByRole('img').waitFor()
    await rows(page).filter({ hasText: '/orders' }).first().waitFor()
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

  test('monitors: pings, usual intervals, and late monitors', async () => {
    const page = await opened('Monitors')
    const monitors = (await api<{ items: readonly MonitorSummary[] }>('monitors')).items
    expect(monitors).toHaveLength(3)
    expect(monitors.map(({ name }) => name)).toEqual(['nightly backup', null, 'stock sync'])
    for (const { monitor, name, pings, interval_ms: intervalMs } of monitors) {
      const monitored = items(page).filter({ hasText: `${name ?? ''} ${monitor}`.trim() })
      for (const text of [`${(intervalMs ?? 0) / 60_000} min`, String(pings)])
        await monitored.getByRole('cell', { name: text, exact: true }).waitFor()
      await monitored.getByRole('img', { name: new RegExp(`${pings} pings`) }).waitFor()
      // One of the three monitors stopped after an hour.
      await monitored.getByText(intervalMs === 4 * 60_000 ? /^late by/ : 'on time').waitFor()
    }
    expect(await page.content()).not.toContain('nightly-backup-token')
    const before = await items(page).first().getByText('ago').first().innerText()
    await call(`${service.url}/heartbeat/a-fourth`)
    await eventually(() => items(page).count()).toBe(4)
    // Late monitors are first.
    await items(page).nth(1).getByText('one ping so far').waitFor()
    expect(await items(page).first().getByText('ago').first().innerText()).toBe(before)
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

  test.each([
    [1440, 'feedback', 25],
    [1440, 'rejected', 25],
    [390, 'requests', 8],
  ])('%i px wide: %s has at least %i records a screen, and nothing is wider', async (width, view, least) => {
    const own = await browser.serve()
    for (let n = 0; n < 30; n += 1) {
      await call(`${own.url}/feedback`, { body: { event_id: '', comments: `comment ${n}`, email: 'jane@example.com' } })
      await call(`${own.url}/ingest`, { body: { batch_id: `batch ${n}`, logs: n } })
    }
    const requests = Array.from({ length: 30 }, (_, n) => ({
      ...requestLog,
      service: 'shop',
      route: `/path/of/route/${n}`,
    }))
    await call(`${own.url}/ingest/requests`, { body: { requests } })
    const page = await browser.open(own, { path: `/?view=${view}`, width, height: 900 })
    await eventually(() => items(page).count()).toBe(30)
    const boxes = await Promise.all((await items(page).all()).map(boxOf))
    expect(boxes.filter(({ y, height }) => y + height <= 900).length).toBeGreaterThanOrEqual(least)
    expect(boxes.filter(({ x, width: wide }) => x + wide > width)).toEqual([])
  })

  test('an invalid query is reported once, at the search field', async () => {
    for (const name of ['errors', 'traces', 'requests', 'releases']) {
      const page = await browser.open(service, {
        path: `/?view=${name}&q=shop+status:%3E%3Dx&before=1&after=2`,
        tolerates: [/400/],
      })
      const alerts = page.getByRole('alert')
      await alerts.filter({ hasText: 'character' }).waitFor()
      expect([name, await alerts.count()]).toEqual([name, 1])
      expect((await alerts.locator('mark').innerText()).length).toBeGreaterThan(0)
    }
  })

  test('additional list items stay while a time range slides', async () => {
    const own = await browser.serve()
    const logs = Array.from({ length: 60 }, (_, n) => entryOf({ level: 'error', fingerprint: `group ${n}` }))
    await ingest(
      own,
      logs.map((log) => ({ ...log, timestamp: new Date().toISOString() })),
    )
    const page = await browser.open(own, { path: '/?view=errors&last=5m' })
    const groups = page.getByRole('main').locator('tbody tr')
    await eventually(() => groups.count()).toBe(50)
    await page.getByRole('button', { name: 'Show more' }).click()
    await eventually(() => groups.count()).toBe(60)
    const answered = () => page.waitForResponse(/error-groups/)
    expect(new URL((await answered()).url()).searchParams.get('limit')).toBe('200')
    expect(new URL((await answered()).url()).searchParams.get('limit')).toBe('200')
    expect(await groups.count()).toBe(60)
  })
})
