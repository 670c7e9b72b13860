/** Notifications of the browser for saved queries. */
import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { call, entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { eventually, expectRows, goTo, parametersOf, searchBox, untilLive } from './viewer.js'

type Permission = 'granted' | 'denied' | 'default'

/** Replaces the browser's notifications, which headless Chromium refuses even with the permission. `answer` is the user's answer to the question for permission. */
const observe = (answer: Permission, before: Permission) => `
  globalThis.shown = []
  globalThis.questions = 0
  globalThis.Notification = class extends EventTarget {
    static permission = ${JSON.stringify(before)}
    static async requestPermission() {
      questions += 1
      return (this.permission = ${JSON.stringify(answer)})
    }
    constructor(title, options) {
      super()
      shown.push({ title, ...options, click: () => this.dispatchEvent(new Event('click')) })
    }
    close() {}
  }`

interface Shown {
  readonly title: string
  readonly body: string
  readonly tag: string
}

const listShown = (page: Page): Promise<Shown[]> =>
  page.evaluate('shown.map(({ title, body, tag }) => ({ title, body, tag }))')

describeInBrowser('notifications', () => {
  const browser = useBrowser()
  const arrive = (service: IngestService, ...messages: string[]) =>
    ingest(
      service,
      messages.map((message) => entryOf({ message, service: 'shop', timestamp: new Date().toISOString() })),
    )

  /** Opens a page in a profile of its own. */
  async function openFresh(service: IngestService, answer: Permission, before: Permission = 'default'): Promise<Page> {
    const empty = await browser.openEmpty()
    await observeIn(empty.context(), answer, before)
    return browser.open(service, { sharesProfileWith: empty })
  }

  async function observeIn(context: BrowserContext, answer: Permission, before: Permission) {
    await context.addInitScript(observe(answer, before))
  }

  async function saveQuery(page: Page, name: string, q: string): Promise<void> {
    await untilLive(page)
    await searchBox(page).fill(q)
    await searchBox(page).press('Enter')
    await openSaved(page)
    await page.getByRole('textbox', { name: 'Name of the query' }).fill(name)
    await page.keyboard.press('Enter')
    await notify(page, name).waitFor()
  }

  const openSaved = (page: Page) => page.getByRole('button', { name: 'Saved', exact: true }).click()
  const notify = (page: Page, name: string) => page.getByRole('switch', { name: `Notify of ${name}` })
  const isOn = (page: Page, name: string) => notify(page, name).getAttribute('aria-checked')
  /** Resolves once the page has asked for what has arrived. */
  const untilChecked = (page: Page) => page.waitForResponse(/\/local\/arrivals\?.*after=/)
  /** Resolves once the page knows which entries are old. */
  const untilReady = (page: Page) => page.waitForResponse(/\/local\/arrivals\?(?!.*after=)/)

  async function switchOn(page: Page, name: string): Promise<void> {
    await Promise.all([untilReady(page), notify(page, name).click()])
    await eventually(() => isOn(page, name)).toBe('true')
  }

  test('are off; switched on, one is shown for what arrives, and a click opens the query', async () => {
    const service = await browser.serve()
    await arrive(service, 'old declined')
    const page = await openFresh(service, 'granted')
    await saveQuery(page, 'Declined cards', 'declined')
    expect(await isOn(page, 'Declined cards')).toBe('false')
    expect(await page.evaluate('questions')).toBe(0)
    await switchOn(page, 'Declined cards')
    expect(await page.evaluate('questions')).toBe(1)
    await page.keyboard.press('Escape')
    // Checked first, if it were on.
    await saveQuery(page, 'off', 'service:shop')
    expect(await isOn(page, 'off')).toBe('false')
    await page.keyboard.press('Escape')
    await goTo(page, '/?view=errors')
    await arrive(service, 'paid', 'card declined', `declined \u202E ${'x'.repeat(400)}`)
    await eventually(() => listShown(page)).toHaveLength(1)
    const [shown] = await listShown(page)
    expect(shown).toMatchObject({ title: 'Declined cards: 2 new entries', tag: 'Declined cards' })
    expect(shown?.body).toMatch(/^declined ‹U\+202E› x+…$/)
    expect(shown?.body.length).toBeLessThanOrEqual(201)
    await page.evaluate('shown[0].click()')
    await eventually(() => parametersOf(page)).toEqual({ q: 'declined' })
    await expectRows(page, ['declined', 'card declined', 'old declined'])
  })

  test('are not asked for when the page is loaded, and begin again with what arrives then', async () => {
    const service = await browser.serve()
    const page = await openFresh(service, 'granted', 'granted')
    await saveQuery(page, 'all', 'service:shop')
    await switchOn(page, 'all')
    await arrive(service, 'before')
    await eventually(() => listShown(page)).toHaveLength(1)
    await Promise.all([untilReady(page), page.reload()])
    await untilLive(page)
    const checked = untilChecked(page)
    await call(`${service.origin}/local/reset`, { headers: { authorization: `Bearer ${service.token}` } })
    await checked
    await arrive(service, 'after')
    await eventually(() => listShown(page)).toMatchObject([{ title: 'all: 1 new entry', body: 'after' }])
    expect(await page.evaluate('questions')).toBe(0)
  })

  test('of two tabs, one shows them, and the other when it is closed', async () => {
    const service = await browser.serve()
    const page = await openFresh(service, 'granted', 'granted')
    await saveQuery(page, 'all', 'service:shop')
    await switchOn(page, 'all')
    const other = await browser.open(service, { sharesProfileWith: page })
    const asked: string[] = []
    other.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await untilLive(other)
    await arrive(service, 'one')
    await eventually(() => listShown(page)).toHaveLength(1)
    await expectRows(other, ['one'])
    await eventually(() => asked).toContain('/local/counts')
    expect([await listShown(other), asked.filter((path) => path === '/local/arrivals')]).toEqual([[], []])
    await Promise.all([untilReady(other), page.close()])
    await arrive(service, 'two')
    await eventually(() => listShown(other)).toMatchObject([{ title: 'all: 1 new entry', body: 'two' }])
  })

  test.each<[Permission, string]>([
    ['denied', 'refuses'],
    ['default', 'does not answer'],
  ])('%s: if the user %s, the switch stays off and says how to allow them', async (answer) => {
    const service = await browser.serve()
    const page = await openFresh(service, answer)
    await saveQuery(page, 'all', 'service:shop')
    await notify(page, 'all').click()
    await page.getByRole('alert').filter({ hasText: 'settings for this site' }).waitFor()
    expect(await isOn(page, 'all')).toBe('false')
    // The user allows them in the settings.
    await page.evaluate(`Notification.requestPermission = async () => (Notification.permission = 'granted')`)
    await notify(page, 'all').click()
    await eventually(() => isOn(page, 'all')).toBe('true')
    expect(await page.getByRole('alert').count()).toBe(0)
    await notify(page, 'all').click()
    await eventually(() => isOn(page, 'all')).toBe('false')
  })

  test('a permission that is withdrawn switches them off', async () => {
    const service = await browser.serve()
    const page = await openFresh(service, 'granted', 'granted')
    await saveQuery(page, 'all', 'service:shop')
    await switchOn(page, 'all')
    await page.evaluate(`Notification.permission = 'denied'`)
    await page.keyboard.press('Escape')
    await openSaved(page)
    await eventually(() => isOn(page, 'all')).toBe('false')
  })
})
