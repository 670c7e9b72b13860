/** Rows do not move under the pointer: at 20 entries a second, each click opens the row that the user read. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, detail, eventually, grid, rows, untilLive } from './viewer.js'

const PER_SECOND = 20
const CLICKS = 20
const REACTION_MS = 200

/** Logs until stopped. */
function logSteadily(service: IngestService): () => Promise<number> {
  let count = 0
  let pending: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    const message = `steady ${++count}`
    pending = pending.then(() => ingest(service, [entryOf({ message, timestamp: new Date().toISOString() })]))
  }, 1000 / PER_SECOND)
  return async () => {
    clearInterval(timer)
    await pending
    return count
  }
}

describeInBrowser('aiming at a row', () => {
  const browser = useBrowser()

  async function steady(): Promise<{ page: Page; service: IngestService; stop: () => Promise<number> }> {
    const service = await browser.serve()
    const stop = logSteadily(service)
    const page = await browser.open(service)
    await untilLive(page)
    await eventually(() => rows(page).count()).toBeGreaterThan(15)
    return { page, service, stop }
  }

  test('always hits it while entries arrive', async () => {
    const { page, stop } = await steady()
    const { x, y } = await boxOf(grid(page))
    const missed: string[] = []
    for (let click = 0; click < CLICKS; click++) {
      const place = { x: x + 400, y: y + 26 + 28 * (click % 12) + 14 }
      // The pointer enters the list, the user reads the row below it, and clicks after a realistic delay.
      await page.mouse.move(place.x, place.y)
      const read = await page.evaluate<string>(
        `document.elementFromPoint(${place.x}, ${place.y}).closest('[role=row]').querySelector('.row-message').innerText`,
      )
      await page.waitForTimeout(REACTION_MS)
      await page.mouse.click(place.x, place.y)
      const heading = detail(page).getByRole('heading', { level: 2 })
      await heading.waitFor()
      const opened = await heading.innerText()
      if (opened !== read) missed.push(`${read}: ${opened}`)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await page.mouse.move(5, 5)
    }
    expect(missed).toEqual([])
    expect(await stop()).toBeGreaterThan((CLICKS * REACTION_MS * PER_SECOND) / 1000 / 2)
  })

  test('holds the list while the pointer is over it, with a notice, and releases it soon after', async () => {
    const { page, stop } = await steady()
    const { x, y } = await boxOf(grid(page))
    await page.mouse.move(x + 400, y + 100)
    const button = page.getByRole('button', { name: /^Holding, \d+ new$/ })
    await button.waitFor()
    const [before] = await rows(page).allInnerTexts()
    await page.waitForTimeout(500)
    expect((await rows(page).allInnerTexts())[0]).toBe(before)
    await page.mouse.move(5, 5)
    await eventually(async () => (await rows(page).allInnerTexts())[0]).not.toBe(before)
    await eventually(() => button.count()).toBe(0)
    await stop()
  })
})
