/** The live tail: new entries appear on top unless the list is paused; a restart of the service loses none. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { plug } from './cable.js'
import { boxOf, detail, eventually, expectRows, grid, row, rows, untilLive } from './viewer.js'
import { lastingPort } from '../reusable-port.mjs'

/** Browser messages about an unreachable service. */
const GONE = [/net::ERR_(?:CONNECTION|INCOMPLETE|EMPTY|SOCKET|NETWORK)/]

async function log(service: IngestService, ...messages: readonly string[]): Promise<void> {
  for (let at = 0; at < messages.length; at += 100) {
    const answer = await ingest(
      service,
      messages.slice(at, at + 100).map((message) => entryOf({ message, timestamp: new Date().toISOString() })),
    )
    expect(answer.status).toBe(200)
  }
}

const numbered = (count: number, what = 'entry', from = 1): string[] =>
  Array.from({ length: count }, (_, index) => `${what} ${from + index} of many`)

describeInBrowser('the live tail', () => {
  const browser = useBrowser()

  async function tailing(count = 1): Promise<{ service: IngestService; page: Page }> {
    const service = await browser.serve()
    await log(service, ...numbered(count))
    const page = await browser.open(service)
    await rows(page).first().waitFor()
    await untilLive(page)
    return { service, page }
  }

  const newButton = (page: Page, count: number) => page.getByRole('button', { name: `${count} new` })

  test('shows new entries on top', async () => {
    const { service, page } = await tailing()
    await log(service, 'the second', 'the third')
    await expectRows(page, ['the third', 'the second', 'entry 1 of many'])
  })

  test('can be paused by a button: new entries are counted, and added when it resumes', async () => {
    const { service, page } = await tailing()
    await page.getByRole('button', { name: 'Pause' }).click()
    await log(service, ...numbered(3, 'later'))
    const paused = page.getByRole('button', { name: /^Paused/, pressed: true })
    await paused.filter({ hasText: '3' }).waitFor()
    await expectRows(page, ['entry 1 of many'])
    await paused.click()
    await expectRows(page, ['later 3', 'later 2', 'later 1', 'entry 1'])
    await log(service, 'at once again')
    await expectRows(page, ['at once again', 'later 3', 'later 2', 'later 1', 'entry 1'])
  })

  test('does not move rows while scrolled down; a button shows the new entries', async () => {
    const { service, page } = await tailing(300)
    const target = row(page, 'entry 250 of many')
    await grid(page).hover()
    await page.mouse.wheel(0, 50 * 28)
    await target.waitFor()
    const before = await boxOf(target)
    await log(service, ...numbered(7, 'newer'))
    await newButton(page, 7).waitFor()
    expect(await boxOf(target)).toEqual(before)
    await newButton(page, 7).click()
    await row(page, 'newer 7').waitFor()
    await eventually(() => grid(page).evaluate((element: { scrollTop: number }) => element.scrollTop)).toBe(0)
    expect(await newButton(page, 7).count()).toBe(0)
  })

  test('does not move the list while an entry is open', async () => {
    const { service, page } = await tailing(5)
    await row(page, 'entry 3').click()
    await detail(page).getByRole('heading', { name: 'entry 3 of many' }).waitFor()
    const before = await boxOf(row(page, 'entry 3'))
    await log(service, ...numbered(2, 'newer'))
    await newButton(page, 2).waitFor()
    expect(await boxOf(row(page, 'entry 3'))).toEqual(before)
    await newButton(page, 2).click()
    await row(page, 'newer 2').waitFor()
  })

  test('loads older entries on scrolling down, to the first one', async () => {
    const { page } = await tailing(1500)
    await expect
      .poll(
        async () => {
          await grid(page).evaluate((element: { scrollTop: number; scrollHeight: number }) => {
            element.scrollTop = element.scrollHeight
          })
          return await rows(page).getByText('entry 1 of many', { exact: true }).count()
        },
        { timeout: 10_000, interval: 50 },
      )
      .toBe(1)
    expect(await rows(page).count()).toBeLessThan(150)
    expect(await grid(page).getAttribute('aria-rowcount')).toBe('1501')
  })

  test('is cleared when the service is reset, and continues', async () => {
    const { service, page } = await tailing(3)
    service.reset()
    await page.getByText('Nothing has arrived yet').waitFor()
    expect(await rows(page).count()).toBe(0)
    await log(service, 'after the reset')
    await expectRows(page, ['after the reset'])
  })

  test('a reset while an entry is open shows that it is deleted', async () => {
    const service = await browser.serve()
    await log(service, ...numbered(3))
    const page = await browser.open(service, { tolerates: [/status of 404/] })
    await row(page, 'entry 2').click()
    await detail(page).getByRole('heading', { name: 'entry 2 of many' }).waitFor()
    service.reset()
    await detail(page).getByText('This entry is not stored').waitFor()
    await detail(page)
      .getByRole('button', { name: /^Close/ })
      .click()
    await page.getByText('Nothing has arrived yet').waitFor()
  })

  test('survives a restart of the service: shows the state, reconnects and loses no entries', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ingest-tail-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dbFile = join(folder, 'store')
    const first = await createIngestService({ dbFile, port: await lastingPort() })
    const { port, token } = first
    await log(first, 'before')
    const page = await browser.open(first, { tolerates: GONE })
    await expectRows(page, ['before'])
    await untilLive(page)
    await log(first, 'seen by stream')
    await expectRows(page, ['seen by stream', 'before'])

    await first.close()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    await expectRows(page, ['seen by stream', 'before'])

    const second = await createIngestService({ dbFile, port, token })
    onTestFinished(() => second.close())
    await log(second, ...numbered(5, 'while away'))
    await expectRows(page, [...numbered(5, 'while away').toReversed(), 'seen by stream', 'before'])
    await untilLive(page)
    await log(second, 'afterwards')
    await row(page, 'afterwards').waitFor()
    await page.goto('about:blank')
  })

  test('resumes a broken connection where it ended', async () => {
    const service = await browser.serve()
    const cable = await plug(service)
    const page = await browser.open(cable, { tolerates: GONE })
    await untilLive(page)
    await log(service, 'the first', 'the second')
    await expectRows(page, ['the second', 'the first'])
    cable.cut()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    await log(service, 'while it was broken')
    const resumed = page.waitForResponse((response) => response.url().includes('/local/stream') && response.ok())
    cable.mend()
    expect((await resumed).request().headers()['last-event-id']).toBe(
      String(service.entries({ q: 'the second' }).items[0]?.seq),
    )
    await expectRows(page, ['while it was broken', 'the second', 'the first'])
    await untilLive(page)
    await page.goto('about:blank')
  })

  test('a restart without a file: deleted entries are no longer shown', async () => {
    const first = await createIngestService({ port: await lastingPort() })
    const { port, token } = first
    await log(first, ...numbered(3, 'lost'))
    const page = await browser.open(first, { tolerates: GONE })
    await expectRows(page, ['lost 3', 'lost 2', 'lost 1'])
    await untilLive(page)
    await first.close()
    const second = await createIngestService({ port, token })
    onTestFinished(() => second.close())
    await log(second, 'new one')
    await expectRows(page, ['new one'])
    await page.goto('about:blank')
  })

  test('a restart with another token: the page prompts for it, and continues', async () => {
    const first = await createIngestService({ port: await lastingPort() })
    await log(first, 'of the first')
    const page = await browser.open(first, { tolerates: [...GONE, /status of 401/] })
    await expectRows(page, ['of the first'])
    await untilLive(page)
    await first.close()
    const second = await createIngestService({ port: first.port })
    onTestFinished(() => second.close())
    await log(second, 'of the second')
    await page.getByRole('heading', { name: 'The service refused this token' }).waitFor()
    await page.getByRole('textbox', { name: /paste/ }).fill(second.pageUrl)
    await page.getByRole('button', { name: 'Open' }).click()
    await expectRows(page, ['of the second'])
    await page.goto('about:blank')
  })

  test('entries that do not match the filters are neither shown nor counted', async () => {
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'bad', level: 'error' })])
    const page = await browser.open(service, { path: '/?q=level:error' })
    await expectRows(page, ['bad'])
    await untilLive(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    await ingest(service, [entryOf({ message: 'fine', level: 'info' }), entryOf({ message: 'worse', level: 'error' })])
    await page
      .getByRole('button', { name: /^Paused/ })
      .filter({ hasText: '1' })
      .waitFor()
    await page.getByRole('button', { name: /^Paused/ }).click()
    await expectRows(page, ['worse', 'bad'])
  })
})
