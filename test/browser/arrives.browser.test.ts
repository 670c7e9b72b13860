/** End to end: from an application's log call through the worker transport to the page. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnv } from '../process/run-app.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, row, section, untilLive, viewLink } from './viewer.js'

describeInBrowser('an application that logs', () => {
  const browser = useBrowser()

  test('is shown on the page: its entries, an error with breadcrumbs, feedback and the release', async () => {
    const service = await browser.serve()
    const page = await browser.open(service)
    await untilLive(page)
    const app = fork(fileURLToPath(new URL('app.mjs', import.meta.url)), {
      env: cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: 'any' }),
    })
    const ended = once(app, 'exit')
    onTestFinished(async () => {
      app.kill('SIGKILL')
      await ended
    })
    const ask = async (call: string, parameters: Record<string, string>): Promise<unknown> => {
      app.send({ call, ...parameters })
      const early = ended.then(([code]) => Promise.reject(new Error(`the application ended early, with ${code}`)))
      const [answer] = (await Promise.race([once(app, 'message'), early])) as [{ result: unknown }]
      return answer.result
    }

    await ask('release', { version: '1.4.0' })
    await ask('log', { text: 'order 1 placed' })
    await row(page, 'order 1 placed').getByRole('gridcell', { name: 'checkout' }).waitFor()
    const eventId = await ask('fail', { text: 'card declined' })
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
    await ask('feedback', { eventId: String(eventId), comments: 'I clicked only once' })
    await section(page, 'Feedback').getByText('I clicked only once').waitFor()
    await viewLink(page, 'Releases').click()
    await page.getByRole('button', { name: '1.4.0' }).waitFor()
  })
})
