/** The page keeps its state in its address; access requires the token. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, eventually, expectRows, parametersOf, row, rows, searchBox, viewLink } from './viewer.js'

const REFUSED = [/status of 401/]

describeInBrowser('the address', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    await ingest(service, [
      entryOf({ message: 'cart read', level: 'debug', service: 'shop' }),
      entryOf({ message: 'order <placed> & "paid" #1', service: 'shop', tags: ['a&b=c'] }),
      entryOf({ message: 'parcel sent', service: 'shipping' }),
    ])
  })

  const heading = (page: Page) => detail(page).getByRole('heading', { level: 2 })

  test('keeps view, filters and open entry across a reload', async () => {
    const page = await browser.open(service, { path: '/?q=service:shop' })
    await expectRows(page, ['order', 'cart read'])
    await searchBox(page).fill('"paid" #1')
    await expectRows(page, ['order'])
    await row(page, 'order').click()
    await heading(page).waitFor()
    const before = page.url()
    await page.reload()
    await expectRows(page, ['order'])
    await heading(page).getByText('order <placed> & "paid" #1').waitFor()
    expect(await searchBox(page).inputValue()).toBe('"paid" #1')
    expect(page.url()).toBe(before)

    await viewLink(page, 'Monitors').click()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor()
  })

  test('Back closes the detail, then leaves the search, then the view; Forward returns', async () => {
    const page = await browser.open(service, { path: '/?view=errors' })
    await viewLink(page, 'Entries').click()
    await rows(page).first().waitFor()
    await searchBox(page).pressSequentially('placed')
    await expectRows(page, ['order'])
    await row(page, 'order').click()
    await heading(page).waitFor()

    await page.goBack()
    await eventually(() => detail(page).count()).toBe(0)
    expect(parametersOf(page)).toEqual({ q: 'placed' })
    await page.goBack()
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
    expect(await searchBox(page).inputValue()).toBe('')
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
    await page.goForward()
    await page.goForward()
    await expectRows(page, ['order'])
    await page.goForward()
    await heading(page).waitFor()
  })

  test('shows the same in another browser, with the token', async () => {
    const page = await browser.open(service, { path: '/?q=tag:%22a%26b%3Dc%22' })
    await row(page, 'order').click()
    await heading(page).waitFor()
    const { pathname, search } = new URL(page.url())
    const other = await browser.open(service, { path: pathname + search, isFresh: true })
    await heading(other).getByText('order <placed>').waitFor()
    await expectRows(other, ['order'])
    expect(other.url()).toBe(page.url())
  })

  test('loses the token immediately; the page keeps it for reloads and other tabs', async () => {
    const page = await browser.open(service, { isFresh: true })
    await rows(page).first().waitFor()
    expect(page.url()).toBe(`${service.origin}/`)
    expect(await page.content()).not.toContain(service.token)
    expect(await page.evaluate<number>('history.length')).toBeLessThanOrEqual(2)
    const second = await browser.open(service, { sharesProfileWith: page, token: null, path: '/?q=service:shipping' })
    await expectRows(second, ['parcel sent'])
  })

  test('without a token: shows only instructions, and accepts a pasted address', async () => {
    const asked: string[] = []
    const page = await browser.open(service, {
      isFresh: true,
      token: null,
      path: '/?q=service:shop',
      tolerates: REFUSED,
    })
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('heading', { name: 'This page needs the service’s token' }).waitFor()
    await page.getByText('pino-ingest dev').first().waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(asked.filter((url) => url.includes('/local/'))).toEqual([])

    const field = page.getByRole('textbox', { name: /paste/ })
    await field.fill('not a token!')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('alert').waitFor()
    await field.fill(`${service.origin}/#token=${service.token}`)
    await page.getByRole('button', { name: 'Open' }).click()
    await expectRows(page, ['order', 'cart read'])
  })

  test('with a wrong token: shows an error, and accepts the right one', async () => {
    const page = await browser.open(service, { isFresh: true, token: 'wrong-token-wrong-token', tolerates: REFUSED })
    await page.getByRole('heading', { name: 'The service refused this token' }).waitFor()
    const field = page.getByRole('textbox', { name: /paste/ })
    await field.fill(service.token)
    await field.press('Enter')
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
    await page.reload()
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
  })

  test('a token that another tab receives is used here too', async () => {
    const page = await browser.open(service, { isFresh: true, token: null, tolerates: REFUSED })
    await page.getByRole('heading', { name: 'This page needs the service’s token' }).waitFor()
    await browser.open(service, { sharesProfileWith: page })
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
  })

  test('with an invalid filter shows the reason, and the rest of the page works', async () => {
    const page = await browser.open(service, { path: '/?since=noon&view=nowhere', tolerates: [/status of 400/] })
    await page.getByRole('alert').filter({ hasText: 'noon' }).first().waitFor()
    await page.getByRole('button', { name: 'All time' }).click()
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
  })

  test('of an entry that is not stored shows a message', async () => {
    const page = await browser.open(service, { path: '/?entry=ent_gone_1', tolerates: [/status of 404/] })
    await detail(page).getByText('This entry is not stored').waitFor()
    await detail(page).getByRole('link', { name: 'Show the newest entries' }).click()
    await eventually(() => detail(page).count()).toBe(0)
    await expectRows(page, ['parcel sent', 'order', 'cart read'])
  })
})
