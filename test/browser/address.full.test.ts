/** The page keeps its state in its address; access requires the token. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, eventually, expectRows, parametersOf, row, rows, searchBox, viewLink } from './viewer.js'

const REFUSED = [/status of 401/]
const ALL = ['parcel sent', 'order', 'cart read']

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
    await expectRows(page, ALL)
    expect(await searchBox(page).inputValue()).toBe('')
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
    await page.goForward()
    await page.goForward()
    await expectRows(page, ['order'])
    await page.goForward()
    await heading(page).waitFor()
  })

  test('loses the token immediately, which the page keeps for other tabs; another browser shows the same with it', async () => {
    const path = '/?q=tag:%22a%26b%3Dc%22'
    const page = await browser.open(service, { path, isFresh: true })
    await row(page, 'order').click()
    await heading(page).waitFor()
    expect(page.url()).not.toContain('token')
    expect(await page.content()).not.toContain(service.token)
    const second = await browser.open(service, { sharesProfileWith: page, token: null, path: '/?q=service:shipping' })
    await expectRows(second, ['parcel sent'])
    const { pathname, search } = new URL(page.url())
    const other = await browser.open(service, { path: pathname + search, isFresh: true })
    await heading(other).getByText('order <placed>').waitFor()
    expect(other.url()).toBe(page.url())
  })

  test('without a token: shows only instructions, and accepts a pasted address or the token of another tab', async () => {
    const path = '/?q=service:shop'
    const page = await browser.open(service, { isFresh: true, token: null, path, tolerates: REFUSED })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('heading', { name: 'This page needs the service’s token' }).waitFor()
    await page.getByText('pino-ingest dev').first().waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(asked.filter((url) => url.includes('/local/'))).toEqual([])

    const other = await browser.open(service, { sharesProfileWith: page, token: null, tolerates: REFUSED })
    const field = page.getByRole('textbox', { name: /paste/ })
    await field.fill('not a token!')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('alert').waitFor()
    await field.fill(`${service.origin}/#token=${service.token}`)
    await page.getByRole('button', { name: 'Open' }).click()
    await expectRows(page, ['order', 'cart read'])
    await expectRows(other, ALL)
  })

  test('with a wrong token: shows an error, and accepts the right one', async () => {
    const page = await browser.open(service, { isFresh: true, token: 'wrong-token-wrong-token', tolerates: REFUSED })
    await page.getByRole('heading', { name: 'The service refused this token' }).waitFor()
    const field = page.getByRole('textbox', { name: /paste/ })
    await field.fill(service.token)
    await field.press('Enter')
    await expectRows(page, ALL)
    await page.reload()
    await expectRows(page, ALL)
  })

  test('with an invalid filter, or of an entry that is not stored: shows the reason, and the way back', async () => {
    const tolerates = [/status of 40[04]/]
    const page = await browser.open(service, { path: '/?since=noon&view=nowhere&entry=ent_gone_1', tolerates })
    await page.getByRole('alert').filter({ hasText: 'noon' }).first().waitFor()
    await detail(page).getByText('This entry is not stored').waitFor()
    await detail(page).getByRole('link', { name: 'Show the newest entries' }).click()
    await eventually(() => detail(page).count()).toBe(0)
    await expectRows(page, ALL)
    expect(parametersOf(page)).toEqual({})
  })
})
