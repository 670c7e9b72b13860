/** The page in narrow windows, in light and dark, and without data. */
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { boxOf, detail, eventually, expectRows, goTo, rows } from './viewer.js'

describeInBrowser('the window', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(service, [entryOf({}), entryOf({})])
  })

  test('narrow: a button shows the views, and the detail covers the list', async () => {
    const page = await browser.open(service, { width: 390 })
    await rows(page).first().waitFor()
    const nav = page.getByRole('navigation', { name: 'Views' })
    expect(await nav.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Entries', expanded: false }).click()
    await nav.getByRole('link', { name: /^Monitors/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor()
    await eventually(() => nav.isVisible()).toBe(false)

    await goTo(page, '/')
    await rows(page).first().click()
    await eventually(async () => (await boxOf(detail(page))).width).toBeGreaterThan(380)
    await eventually(() => rows(page).first().isVisible()).toBe(false)
    await detail(page)
      .getByRole('button', { name: /^Close/ })
      .click()
    await eventually(() => rows(page).first().isVisible()).toBe(true)
    expect(await page.evaluate('document.scrollingElement.scrollWidth <= innerWidth')).toBe(true)
  })

  test('is light or dark like the system, or as selected; it remembers the selection', async () => {
    const page = await browser.open(service, { colorScheme: 'dark', isFresh: true })
    await rows(page).first().waitFor()
    const lightness = (): Promise<number> =>
      page.evaluate(
        `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3`,
      )
    expect(await lightness()).toBeLessThan(70)
    const choose = async (theme: string): Promise<void> => {
      await page.keyboard.press('?')
      await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme)
    }
    await choose('light')
    await eventually(lightness).toBeGreaterThan(200)
    await page.reload()
    await rows(page).first().waitFor()
    expect(await lightness()).toBeGreaterThan(200)
    await choose('dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(lightness).toBeLessThan(70)
  })

  test('empty: code that connects an application to this service, and instructions in every view', async () => {
    const empty = await browser.serve()
    const page = await browser.open(empty)
    await page.getByText('Nothing has arrived yet').waitFor()
    const lines = await page.getByLabel('Lines that connect an application').innerText()
    expect(lines).toContain('pino(ingestOptions(')
    await page.getByText(`PINO_INGEST_URL=${empty.url} node app.mjs`).waitFor()
    await page.getByRole('button', { name: 'Copy' }).click()
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(lines)
    for (const [view, what] of [
      ['errors', 'captureError'],
      ['requests', 'requestLogs: true'],
      ['releases', 'registerRelease'],
      ['monitors', 'npx pino-ingest heartbeat'],
      ['feedback', 'sendFeedback'],
      ['rejected', 'Nothing was rejected'],
    ] as const) {
      await goTo(page, `/?view=${view}`)
      await page.getByText(what).first().waitFor()
    }
    await goTo(page, '/')
    await ingest(empty, [entryOf({ message: 'connected' })])
    await expectRows(page, ['connected'])
  })
})
