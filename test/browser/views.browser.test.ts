/** Compares the other views with the JSON API, using two hours of logs of a small shop. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type {
  ErrorGroup,
  MonitorSummary,
  ReleaseHealth,
  RouteLatency,
  RouteStats,
} from '../../src/service/query/api-types.js'
import type { IngestService } from '../../src/service/index.js'
import type { Page as ApiPage } from '../../src/service/index.js'
import { call, entryOf, ingest } from '../service/support.js'
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
  const items = (page: Page): Locator => page.getByRole('main').getByRole('listitem')
  const releasesOf = (page: Page): Locator =>
    page.getByRole('list', { name: 'Registered releases' }).getByRole('listitem')

  test('headings of the views have counts', async () => {
    const page = await browser.open(service)
    for (const [title, count] of [
      ['Entries', service.counts().total],
      ['Releases', 2],
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
      expect(inNumber(row[3])).toBe(group?.count)
      expect(inNumber(row[4])).toBe(group?.users)
    }
    expect(await table.getByRole('img').count()).toBe(groups.length)

    await page.getByRole('button', { name: 'Most frequent' }).click()
    const counts = groups.map(({ count }) => count).toSorted((a, b) => b - a)
    await eventually(async () => (await cells(table)).map((row) => inNumber(row[3]))).toEqual(counts)
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
    const header = (name: string): Locator => table.getByRole('columnheader', { name })
    for (const [column, name] of [
      [1, 'Requests'],
      [3, 'p50'],
      [4, 'p95'],
      [5, 'p99'],
    ] as const) {
      await header(name).getByRole('button').click()
      const direction = (await header(name).getAttribute('aria-sort')) ?? ''
      expect(['ascending', 'descending']).toContain(direction)
      const order = { 1: 'count', 3: 'p50_ms', 4: 'p95_ms', 5: 'p99_ms' } as const
      const sorted = routes.toSorted(
        (a, b) => (direction === 'ascending' ? 1 : -1) * (a[order[column]] - b[order[column]]),
      )
      expect((await cells(table)).map((row) => row[0])).toEqual(sorted.map((one) => `${one.method} ${one.route}`))
    }
  })

  test("requests: a route's latency is plotted, shown as a table, and part of the address", async () => {
    const page = await opened('Requests')
    await page.getByRole('link', { name: 'POST /orders' }).first().click()
    expect(parametersOf(page)).toEqual({ view: 'requests', route: 'POST /orders', service: 'web-shop' })
    const panel = page.getByRole('region', { name: 'Latency of web-shop POST /orders' })
    const plot = panel.getByRole('img', { name: /^Latency of web-shop POST \/orders/ })
    expect((await boxOf(plot)).width).toBeGreaterThan(300)

    const latency = await api<RouteLatency>('routes/latency?service=web-shop&method=POST&route=%2Forders')
    const filled = latency.buckets.filter(({ count }) => count > 0)
    await panel.getByText('As a table').click()
    const table = panel.getByRole('region', { name: 'Latency as a table' }).getByRole('table')
    expect((await cells(table)).map((row) => row.slice(1, 3).map(inNumber))).toEqual(
      filled.map(({ count, errors }) => [count, errors]),
    )
    // One line per percentile, with one point per time bucket that has requests.
    await plot.hover()
    await panel
      .getByText(/^\d+ requests?/)
      .first()
      .waitFor()

    await page.reload()
    await plot.waitFor()
  })

  test('requests: a click on the plot selects the time, Escape goes back', async () => {
    const page = await opened('Requests')
    await page.getByRole('button', { name: 'Last 60 min' }).click()
    await page.getByRole('link', { name: 'POST /orders' }).first().click()
    const before = parametersOf(page)
    expect(before).toMatchObject({ last: '60m', route: 'POST /orders' })
    await page.getByRole('img', { name: /^Latency of web-shop POST \/orders/ }).click()
    await eventually(() => Object.keys(parametersOf(page))).toContain('since')
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual(before)
  })

  test('releases: errors before and after each release match the API', async () => {
    const page = await opened('Releases')
    const releases = (await api<ApiPage<ReleaseHealth>>('release-health')).items
    expect(releases.map(({ release }) => release.version)).toEqual(['2.7.0', '2.6.0'])
    expect(releases[0]?.after.errors).toBeGreaterThan((releases[0]?.before.errors ?? 0) * 2)
    for (const [index, { release, linked }] of releases.entries()) {
      const card = releasesOf(page).nth(index)
      await card.getByRole('heading', { name: release.version }).waitFor()
      const text = await card.innerText()
      for (const part of [release.branch, release.deployed_by, release.commit_hash?.slice(0, 7)])
        expect(text).toContain(part)
      // The windows grow with the time since the release, so page and API can count at different times.
      await eventually(async () => {
        await page.reload()
        const counts = (await api<ApiPage<ReleaseHealth>>('release-health')).items[index]
        const shown = await releasesOf(page).nth(index).innerText()
        return [counts?.before, counts?.after].every((side) => {
          const { errors = -1, entries = -1 } = side ?? {}
          const count = errors === 0 ? '(?:no|0)' : String(errors)
          return new RegExp(`${count} errors? among ${entries.toLocaleString('en')} entr`).test(shown)
        })
      }).toBe(true)
      expect(text).toContain(linked.entries.toLocaleString('en'))
    }
    await releasesOf(page).first().getByText('Changelog').click()
    await releasesOf(page).first().getByText('Vouchers can be combined').waitFor()
    await releasesOf(page)
      .first()
      .getByRole('link', { name: /entries of this release/ })
      .click()
    await eventually(() => rows(page).count()).toBeGreaterThan(1)
    expect(parametersOf(page)).toEqual({ q: `release_id:${releases[0]?.release_id}` })
  })

  test('monitors: pings, usual intervals, and late monitors', async () => {
    const page = await opened('Monitors')
    const monitors = (await api<{ items: readonly MonitorSummary[] }>('monitors')).items
    expect(monitors).toHaveLength(3)
    expect(monitors.map(({ name }) => name)).toEqual(['nightly backup', null, 'stock sync'])
    for (const { monitor, name, pings, interval_ms: intervalMs } of monitors) {
      const title = name === null ? monitor : `${name} ${monitor}`
      const card = items(page).filter({ has: page.getByRole('heading', { name: title, exact: true }) })
      await card.getByText(`${(intervalMs ?? 0) / 60_000} min`, { exact: true }).waitFor()
      await card.getByText(String(pings), { exact: true }).waitFor()
      await card.getByRole('img', { name: new RegExp(`${pings} pings`) }).waitFor()
      // One of the three monitors stopped after an hour.
      await card.getByText(intervalMs === 4 * 60_000 ? /^late by/ : 'on time').waitFor()
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
    for (const text of ['Jane Doe', 'jane@example.com', 'My card was charged once.'])
      await about.getByText(text).first().waitFor()
    await items(page)
      .filter({ hasText: 'evt-nobody-knows' })
      .getByText(/whose entry is not stored/)
      .waitFor()
    await about.getByRole('link', { name: 'the order of Jane Doe could not be paid' }).click()
    await section(page, 'Feedback').getByText('My card was charged once.').waitFor()

    await call(`${service.url}/feedback`, { body: { event_id: 'x', comments: 'It came while one looked' } })
    await items(page).first().getByText('It came while one looked').waitFor()
  })

  test('rejected: refused requests with endpoint and reasons', async () => {
    const page = await opened('Rejected')
    await eventually(() =>
      items(page)
        .filter({ has: page.getByRole('heading') })
        .count(),
    ).toBe(3)
    const card = (text: string): Locator =>
      items(page)
        .filter({ has: page.getByRole('heading') })
        .filter({ hasText: text })
    const nightly = card('nightly-import-7')
    for (const text of ['422', 'POST /ingest', 'logs[1].level', 'logs[2].timestamp'])
      await nightly.getByText(text, { exact: true }).first().waitFor()
    await nightly.getByText(/must be one of: debug, info, warn, error, fatal/).waitFor()
    await nightly.getByText(/2 of 3 entries refused, 1 accepted/).waitFor()
    await card('legacy-agent').getByText('field required').waitFor()
    await card('legacy-agent').getByText('logs[0].message', { exact: true }).waitFor()
    await card('POST /ingest/requests').getByText('requests[0].status_code', { exact: true }).waitFor()

    await call(`${service.url}/ingest`, { body: { batch_id: 'while-looking', logs: 7 } })
    await card('while-looking').getByText('logs', { exact: true }).waitFor()
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

  test('the order is part of the address', async () => {
    const page = await opened('Requests')
    const order = page.getByRole('group', { name: 'Order' })
    await order.getByRole('button', { name: 'Newest' }).click()
    await page.getByRole('columnheader', { name: 'p95' }).getByRole('button').click()
    await page.getByRole('columnheader', { name: 'p95' }).getByRole('button').click()
    expect(parametersOf(page)).toEqual({ view: 'requests', sort: 'timestamp', routes: 'p95_ms' })
    await page.getByRole('region', { name: 'Single requests' }).getByRole('link').first().click()
    await rows(page).first().waitFor()
    await page.goBack()
    await order.getByRole('button', { name: 'Newest', pressed: true }).waitFor()
    await eventually(() => page.getByRole('columnheader', { name: 'p95' }).getAttribute('aria-sort')).toBe('ascending')

    await viewLink(page, 'Errors').click()
    await order.getByRole('button', { name: 'Most frequent' }).click()
    expect(parametersOf(page)).toEqual({ view: 'errors', sort: 'count' })
    await page.reload()
    await order.getByRole('button', { name: 'Most frequent', pressed: true }).waitFor()
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
