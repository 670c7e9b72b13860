/** The live tail: new entries appear on top unless the list is held; a restart of the service loses none. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, detail, eventually, expectRows, grid, row, rows, untilLive } from './viewer.js'
import { lastingPort } from '../reusable-port.mjs'

/** Browser messages about an unreachable service. */
const GONE = [/net::ERR_(?:CONNECTION|INCOMPLETE|EMPTY|SOCKET|NETWORK)/]

async function log(service: IngestService, ...messages: readonly string[]): Promise<void> {
  for (let at = 0; at < messages.length; at += 100) {
    const timestamp = new Date().toISOString()
    const logs = messages.slice(at, at + 100).map((message) => entryOf({ message, timestamp }))
    expect((await ingest(service, logs)).status).toBe(200)
  }
}

const numbered = (count: number, what = 'entry', from = 1): string[] =>
  Array.from({ length: count }, (_, index) => `${what} ${from + index} of many`)

describeInBrowser('the live tail', () => {
  const browser = useBrowser()

  async function tailing(
    count = 1,
    tolerates: readonly RegExp[] = [],
  ): Promise<{ service: IngestService; page: Page }> {
    const service = await browser.serve()
    await log(service, ...numbered(count))
    const page = await browser.open(service, { tolerates })
    await rows(page).first().waitFor()
    await untilLive(page)
    return { service, page }
  }

  const newButton = (page: Page, count: number) => page.getByRole('button', { name: `${count} new` })

  test('can be paused, also while another view is shown: new entries are counted, and added when it resumes', async () => {
    const { service, page } = await tailing()
    await page.getByRole('button', { name: 'Pause' }).click()
    await log(service, ...numbered(2, 'later'))
    const paused = page.getByRole('button', { name: /^Paused/, pressed: true })
    await paused.filter({ hasText: '2' }).waitFor()
    await page.keyboard.press('2')
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
    await log(service, ...numbered(1, 'later', 3))
    await page.keyboard.press('1')
    await paused.filter({ hasText: '3' }).waitFor()
    await expectRows(page, ['entry 1 of many'])
    await paused.click()
    await expectRows(page, ['later 3', 'later 2', 'later 1', 'entry 1'])
    await log(service, 'at once again')
    await expectRows(page, ['at once again', 'later 3', 'later 2', 'later 1', 'entry 1'])
  })

  test('does not move rows while scrolled down, or while an entry is open; a button shows the new entries', async () => {
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

    await row(page, 'newer 3').click()
    await detail(page).getByRole('heading', { name: 'newer 3 of many' }).waitFor()
    const opened = await boxOf(row(page, 'newer 3'))
    await log(service, ...numbered(2, 'newest'))
    await newButton(page, 2).waitFor()
    expect(await boxOf(row(page, 'newer 3'))).toEqual(opened)
    await newButton(page, 2).click()
    await row(page, 'newest 2').waitFor()
  })

  test('does not move rows under the pointer or while one is selected; a strip that covers no row says so', async () => {
    const { service, page } = await tailing()
    const first = row(page, 'entry 1')
    await first.hover()
    const before = await boxOf(first)
    await log(service, 'new')
    const strip = page.getByRole('button', { name: /^Holding, 1 new$/ })
    await strip.waitFor()
    const [list, shown] = [await boxOf(grid(page)), await boxOf(strip)]
    expect(shown.y).toBeGreaterThanOrEqual(list.y + list.height - 1)
    expect(await boxOf(first)).toEqual(before)
    await page.mouse.move(5, 5)
    await expectRows(page, ['new', 'entry 1'])
    await eventually(() => strip.count()).toBe(0)
    // A selected row holds the list, too.
    await page.keyboard.press('j')
    await log(service, 'newest')
    await newButton(page, 1).waitFor()
    await expectRows(page, ['new', 'entry 1'])
    await page.keyboard.press('Escape')
    await expectRows(page, ['newest', 'new', 'entry 1'])
  })

  test('loads older entries on scrolling down, to the first one', async () => {
    const { page } = await tailing(1500)
    await eventually(async () => {
      await grid(page).evaluate((element: { scrollTop: number; scrollHeight: number }) => {
        element.scrollTop = element.scrollHeight
      })
      return await rows(page).getByText('entry 1 of many', { exact: true }).count()
    }).toBe(1)
    expect(await rows(page).count()).toBeLessThan(150)
    expect(await grid(page).getAttribute('aria-rowcount')).toBe('1501')
  })

  test('is cleared when the service is reset, also the open entry, and continues', async () => {
    const { service, page } = await tailing(3, [/status of 404/])
    await row(page, 'entry 2').click()
    await detail(page).getByRole('heading', { name: 'entry 2 of many' }).waitFor()
    service.reset()
    await detail(page).getByText('This entry is not stored').waitFor()
    await detail(page)
      .getByRole('button', { name: /^Close/ })
      .click()
    await page.getByText('Nothing has arrived yet').waitFor()
    expect(await rows(page).count()).toBe(0)
    // Lets the list move: the pointer and a selected row hold it.
    await page.mouse.move(5, 5)
    await page.keyboard.press('Escape')
    await log(service, 'after the reset')
    await expectRows(page, ['after the reset'])
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
    await first.close()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    await expectRows(page, ['before'])

    const second = await createIngestService({ dbFile, port, token })
    onTestFinished(() => second.close())
    await log(second, ...numbered(5, 'while away'))
    await expectRows(page, [...numbered(5, 'while away').toReversed(), 'before'])
    await untilLive(page)
    await log(second, 'afterwards')
    await row(page, 'afterwards').waitFor()
    await page.goto('about:blank')
  })
})
