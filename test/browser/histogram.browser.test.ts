/** The histogram: a selection by pointer or keyboard becomes the time range of the list. */
import { beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, eventually, parametersOf, rows, untilLive } from './viewer.js'

/** One entry a minute from 8:00 to 8:59. */
const MINUTES = 60
const timeOf = (minute: number): string => new Date(Date.UTC(2026, 0, 31, 8, minute)).toISOString()

describeInBrowser('the histogram', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    const level = (minute: number): 'info' | 'error' => (minute % 10 === 0 ? 'error' : 'info')
    await ingest(
      service,
      Array.from({ length: MINUTES }, (_, minute) =>
        entryOf({ message: `minute ${minute}`, level: level(minute), timestamp: timeOf(minute) }),
      ),
    )
  })

  async function opened(): Promise<Page> {
    const page = await browser.open(service)
    await rows(page).first().waitFor()
    await chart(page)
      .getByRole('img', { name: /60 entries/ })
      .waitFor()
    return page
  }

  const chart = (page: Page) => page.getByRole('group', { name: /^Select a time/ })

  /** Checks that the list has exactly the entries of the range in the address. */
  async function expectRange(page: Page): Promise<readonly string[]> {
    await eventually(() => Object.keys(parametersOf(page))).toEqual(['since', 'until'])
    const { since = '', until = '' } = parametersOf(page)
    const wanted = service.entries({ since, until }).items.map(({ entry }) => entry.message)
    await eventually(async () => (await rows(page).all()).length).toBe(wanted.length)
    for (const message of wanted) await rows(page).getByText(message, { exact: true }).waitFor()
    return wanted
  }

  test('has a label with its values', async () => {
    const page = await opened()
    await chart(page)
      .getByRole('img', { name: /60 entries, 6 error, 54 info/ })
      .waitFor()
  })

  test('a range is selected by dragging, and cleared by a button; Back returns to it', async () => {
    const page = await opened()
    const { x, y, width, height } = await boxOf(chart(page))
    await page.mouse.move(x + width * 0.25, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.3, y + height / 2)
    await page.mouse.move(x + width * 0.5, y + height / 2)
    await page.mouse.up()
    const chosen = await expectRange(page)
    // 15 minutes from 8:15, to the precision of a bar.
    expect(chosen.length).toBeGreaterThanOrEqual(15)
    expect(chosen.length).toBeLessThanOrEqual(18)
    expect(chosen).toContain('minute 15')
    expect(chosen).toContain('minute 29')

    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await eventually(() => parametersOf(page)).toEqual({})
    await page.goBack()
    expect(await expectRange(page)).toEqual(chosen)
    // Zooming out still works after Back and a reload.
    await page.reload()
    await page.getByRole('button', { name: 'Zoom out' }).waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => parametersOf(page)).toEqual({})
  })

  test('zooming out works after opening a link in the range, but not after selecting another time', async () => {
    const page = await opened()
    const { x, y, width, height } = await boxOf(chart(page))
    await page.mouse.move(x + width * 0.25, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.5, y + height / 2)
    await page.mouse.up()
    await expectRange(page)
    const back = page.getByRole('button', { name: 'Zoom out' })
    await rows(page).first().click()
    await eventually(() => Object.keys(parametersOf(page))).toContain('entry')
    await back.waitFor()
    await page.getByRole('button', { name: 'All time', exact: true }).click()
    await back.waitFor({ state: 'detached' })
  })

  test('dragging backwards and out of the chart selects a range too', async () => {
    const page = await opened()
    const { x, y, width, height } = await boxOf(chart(page))
    await page.mouse.move(x + width * 0.1, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.05, y + height / 2)
    await page.mouse.move(Math.max(0, x - 20), y + height + 40)
    await page.mouse.up()
    expect(await expectRange(page)).toContain('minute 0')
  })

  test('a range is selected by keyboard, announced to screen readers, and refined', async () => {
    const page = await opened()
    await chart(page).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    for (let n = 0; n < 3; n += 1) await page.keyboard.press('Shift+ArrowRight')
    await page
      .getByRole('status')
      .filter({ hasText: /\d+ entries/ })
      .waitFor()
    await page.keyboard.press('Enter')
    const chosen = await expectRange(page)
    expect(chosen).toHaveLength(4)

    await chart(page)
      .getByRole('img', { name: /4 entries/ })
      .waitFor()
    await chart(page).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await eventually(() => parametersOf(page)['until']).not.toBe(undefined)
    await eventually(async () => rows(page).count()).toBeLessThan(chosen.length)
  })

  test('Escape cancels a selection', async () => {
    const page = await opened()
    await chart(page).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    await untilLive(page)
    expect(parametersOf(page)).toEqual({})
  })

  test('the time and the counts are shown at the pointer', async () => {
    const page = await opened()
    const { x, y, width, height } = await boxOf(chart(page))
    await page.mouse.move(x + width * 0.5, y + height / 2)
    await page
      .getByText(/^1 entry, 1 (?:info|error)$/)
      .filter({ visible: true })
      .first()
      .waitFor()
  })

  test('the start of a process is marked, and labels of the axis are within the window', async () => {
    const own = await browser.serve()
    const logged = (pid: number, minute: number) =>
      entryOf({ service: 'shop', metadata: { pid, hostname: 'laptop' }, timestamp: timeOf(minute) })
    await ingest(own, [logged(1, 0), logged(1, 10), logged(2, 20), logged(2, 59)])
    const page = await browser.open(own, { width: 390 })
    await eventually(() => chart(page).locator('.run-start').count()).toBe(2)
    for (const label of await chart(page).locator('text').all()) {
      const { x, width } = await boxOf(label)
      expect([x >= 0, x + width <= 390]).toEqual([true, true])
    }
    await chart(page).focus()
    await page.keyboard.press('ArrowRight')
    await chart(page).getByRole('status').filter({ hasText: 'shop started' }).waitFor()
    for (let n = 0; n < 20; n += 1) await page.keyboard.press('ArrowRight')
    await chart(page).getByRole('status').filter({ hasText: 'shop restarted' }).waitFor()
  })

  test('new entries are added', async () => {
    const page = await opened()
    await ingest(service, [entryOf({ message: 'later', level: 'fatal', timestamp: timeOf(59) })])
    await chart(page)
      .getByRole('img', { name: /61 entries, 1 fatal/ })
      .waitFor()
  })
})
