/** End to end: from an application's log call through the worker transport to the row on the page. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startApp } from './app.js'
import type { App } from './app.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, row, section, untilLive, viewLink } from './viewer.js'

/** Measures the time from the call to the row, by the clock that both processes share. */
async function measure(page: Page, app: App, text: string): Promise<number> {
  const shown = page.waitForFunction(
    (wanted) => {
      const { body } = (globalThis as unknown as { document: { body: { innerText: string } } }).document
      return body.innerText.includes(wanted) && Date.now()
    },
    text,
    { polling: 'raf' },
  )
  const { at } = await app.ask('log', { text })
  return Number(await (await shown).jsonValue()) - at
}

describeInBrowser('an application that logs', () => {
  const browser = useBrowser()

  test('is shown on the page from its first call, which starts the worker', async () => {
    const service = await browser.serve()
    const page = await browser.open(service)
    await untilLive(page)
    const tookMs = await measure(page, startApp(service.url), 'order 1 placed')
    await row(page, 'order 1 placed').getByRole('gridcell', { name: 'checkout' }).waitFor()
    process.stdout.write(`from the log call to the page: ${tookMs} ms\n`)
  })

  test('has errors with breadcrumbs, and later feedback', async () => {
    const service = await browser.serve()
    const app = startApp(service.url)
    await app.ask('release', { version: '1.4.0' })
    const page = await browser.open(service)
    const { result: eventId } = await app.ask('fail', { text: 'card declined' })
    await row(page, 'card declined').click()

    await section(page, 'Error').getByText('RangeError: limit reached').waitFor()
    const crumbs = section(page, 'Breadcrumbs').getByRole('listitem')
    await crumbs.filter({ hasText: 'payment started' }).waitFor()
    await crumbs.filter({ hasText: 'voucher applied' }).waitFor()
    await section(page, 'User').getByText('ada@example.com').waitFor()
    await detail(page).getByRole('button', { name: /vip/ }).waitFor()
    await section(page, 'Same request').getByRole('link', { name: 'payment started' }).waitFor()
    await detail(page).getByText('1.4.0').first().waitFor()

    expect(await section(page, 'Feedback').count()).toBe(0)
    await app.ask('feedback', { eventId: String(eventId), comments: 'I clicked only once' })
    await section(page, 'Feedback').getByText('I clicked only once').waitFor()

    await viewLink(page, 'Releases').click()
    await page.getByRole('button', { name: '1.4.0' }).waitFor()
  })
})
