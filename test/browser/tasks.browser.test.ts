/** The tasks for which the page is opened, with the number of actions that each may take: a click, or a text that is typed. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { call, entryOf, ingest, requestLog } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, eventually, row, rows, searchBox, section, viewLink } from './viewer.js'

const START_MS = Date.now()
const ago = (ms: number): string => new Date(START_MS - ms).toISOString()
const FAILED = 17

/** Twenty checkouts over three services; one of u-42 fails in payments. Version 2 is slower. */
const ENTRIES = Array.from({ length: 20 }, (_, n) => n).flatMap((n) => {
  const ids = { request_id: `r-${n}`, user_id: n % 5 === 2 ? 'u-42' : `u-${n}`, version: n < 10 ? '1.0.0' : '2.0.0' }
  const span = (service: string, ms: number, id: string, parent?: string) => ({
    ...ids,
    service,
    timestamp: ago(60_000 - n * 1_000 - ms),
    trace: {
      trace_id: `t-${n}`,
      span_id: `${id}-${n}`,
      ...(parent !== undefined && { parent_span_id: `${parent}-${n}` }),
    },
  })
  const request = {
    method: 'POST',
    path: '/checkout',
    status_code: n === FAILED ? 500 : 200,
    duration_ms: 100 + n * 20,
  }
  return [
    entryOf({ ...span('shop', 90, 'a'), message: 'cart read' }),
    entryOf({ ...span('stock', 60, 'b', 'a'), message: 'reserved' }),
    n === FAILED
      ? entryOf({
          ...span('payments', 30, 'c', 'a'),
          level: 'error',
          message: 'card declined',
          error: {
            type: 'Declined',
            message: 'card declined',
            stack: 'Declined: card declined\n    at pay (/srv/pay.js:7:3)',
          },
          breadcrumbs: [
            { type: 'log', category: 'log', message: 'limit reached', level: 'debug', timestamp: ago(45_000) },
          ],
        })
      : entryOf({ ...span('payments', 30, 'c', 'a'), message: 'paid' }),
    entryOf({ ...span('shop', 10, 'a'), message: 'request completed', request }),
  ]
})
const REQUESTS = ['shop', 'kiosk'].flatMap((service) =>
  Array.from({ length: 10 }, (_, n) => ({
    ...requestLog,
    ...{ service, method: 'POST', path: '/checkout', route: '/checkout', request_id: `r-${n}`, duration_ms: 10 + n },
    timestamp: ago(50_000 - n * 1_000),
  })),
)

describeInBrowser('tasks', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(service, ENTRIES)
    await call(`${service.url}/ingest/requests`, { body: { requests: REQUESTS } })
  })

  /** Counts actions, so that a task cannot take another one unnoticed. */
  async function started(path = '/') {
    const page: Page = await browser.open(service, { path })
    let actions = 0
    return {
      page,
      click: (target: Locator) => ((actions += 1), target.click()),
      type: (text: string) => ((actions += 1), searchBox(page).fill(text)),
      used: () => actions,
    }
  }

  test("u-42's errors: 2; what led to one: 1 more; all of its request: 1 more; its timeline, and back: 1 each", async () => {
    const { page, click, type, used } = await started()
    await type('user:u-42')
    await click(page.getByRole('button', { name: /^error/i }).first())
    await eventually(() => rows(page).count()).toBe(1)
    expect(used()).toBe(2)
    await click(row(page, 'card declined'))
    await section(page, 'Breadcrumbs').getByText('limit reached').waitFor()
    expect(used()).toBe(3)
    await click(detail(page).getByRole('link', { name: `trace t-${FAILED}` }))
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    expect(used()).toBe(4)
    await click(page.getByRole('link', { name: 'Show in the list', exact: true }))
    await eventually(() => rows(page).count()).toBe(4)
    expect(used()).toBe(5)
    await click(detail(page).getByRole('link', { name: `request r-${FAILED}` }))
    await eventually(() => rows(page).count()).toBe(4)
    expect(used()).toBe(6)
  })

  test('the slowest request of a route: 2', async () => {
    const { page, click, used } = await started()
    await click(viewLink(page, 'Requests'))
    await click(page.getByRole('row', { name: /shop/ }).getByRole('button', { name: 'POST /checkout' }).first())
    const slowest = page.getByRole('table', { name: 'Slowest requests' }).getByRole('row').nth(1)
    await slowest.getByText('19 ms').waitFor()
    expect(used()).toBe(2)
  })

  test("one service's share of a route: 1", async () => {
    const { page, click, used } = await started()
    await click(viewLink(page, 'Requests'))
    await page
      .getByRole('table', { name: 'Routes' })
      .getByRole('row', { name: /POST \/checkout kiosk 10/ })
      .waitFor()
    await page
      .getByRole('table', { name: 'Routes' })
      .getByRole('row', { name: /POST \/checkout shop 10/ })
      .waitFor()
    expect(used()).toBe(1)
  })

  test('before and after a release: 1', async () => {
    const { page, click, used } = await started()
    await click(viewLink(page, 'Releases'))
    const compared = page.getByRole('region', { name: 'Comparison' })
    await compared.getByRole('row', { name: /p95 of requests/ }).waitFor()
    await compared
      .getByRole('columnheader', { name: /2\.0\.0$/ })
      .first()
      .waitFor()
    expect(used()).toBe(1)
  })

  test('a chart by a field: 1', async () => {
    const { page, type, used } = await started()
    await type('| p95(duration) by version')
    await page
      .getByRole('region', { name: 'Chart' })
      .getByRole('list', { name: 'Lines' })
      .getByRole('listitem')
      .nth(1)
      .waitFor()
    expect(used()).toBe(1)
  })

  test('a correction by click: 1 after the typing', async () => {
    const { page, click, type, used } = await started()
    await type('statsu:500')
    await click(page.getByRole('button', { name: /^Search status:500/ }))
    await eventually(() => rows(page).count()).toBe(1)
    expect(used()).toBe(2)
  })
})
