/** Automated accessibility checks find no problem in any state of the page, light and dark, wide and narrow. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { expectAccessible, VIEWS } from './accessible.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { RICH_TRACE } from './seed-entries.js'
import { seed, SetClock } from './seed.js'
import { detail, goTo, row, rows } from './viewer.js'

/** One event has no entry, and one entry is deleted. */
const NOT_THERE = [/404.*(?:evt-nobody-knows|ent_gone_1)/]

/** States besides the views: an address, and what leads to the state. */
const STATES: readonly (readonly [what: string, path: string, reach: (page: Page) => Promise<unknown>])[] = [
  [
    'a route',
    '/?view=requests&open=web-shop+POST+%2Forders',
    (page) => page.getByRole('table', { name: 'Slowest requests' }).waitFor(),
  ],
  [
    'a chart',
    '/?q=%7C+count+by+user',
    (page) => page.getByRole('region', { name: 'Chart' }).getByRole('img').waitFor(),
  ],
  ['a chart as a table', '/?q=%7C+count+by+user', (page) => page.getByRole('button', { name: 'As a table' }).click()],
  [
    'a trace',
    `/?view=traces&trace=${RICH_TRACE}`,
    (page) => page.getByRole('link', { name: /card declined/ }).waitFor(),
  ],
  [
    'a comparison',
    '/?view=releases&before=service:web-shop+version:2.6.0&after=service:web-shop+version:2.7.0',
    (page) => page.getByRole('row', { name: /POST \/orders/ }).waitFor(),
  ],
  ['no match', '/?q=nothing-has-this', (page) => page.getByText('No entry matches').waitFor()],
  ['a deleted entry', '/?entry=ent_gone_1', (page) => detail(page).getByText('This entry is not stored').waitFor()],
  [
    'help',
    '/',
    async (page) => {
      await rows(page).first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Help' }).waitFor()
    },
  ],
  [
    'clear',
    '/',
    async (page) => {
      await page.getByRole('button', { name: 'Delete all records' }).click()
      await page.getByRole('dialog', { name: /^Delete/ }).waitFor()
    },
  ],
]

describeInBrowser('accessible', () => {
  const browser = useBrowser()
  let full: IngestService
  let empty: IngestService

  beforeAll(async () => {
    const clock = new SetClock()
    full = await browser.serve({ clock })
    empty = await browser.serve()
    await seed(full.url, clock)
  })

  // High enough to show all elements, because axe can compute the contrast only of visible ones.
  describe.each([1440, 390])('%i pixels wide, in light and in dark', (width) => {
    const opened = (service: IngestService, height: number, path = '/'): Promise<Page> =>
      browser.open(service, { width, height, path, tolerates: NOT_THERE })

    test('the views, with data and empty', async () => {
      for (const service of [full, empty]) {
        const page = await opened(service, 1200)
        for (const view of VIEWS) {
          await goTo(page, `/?view=${view}`)
          await page
            .getByRole('heading', { level: service === full ? 1 : 2 })
            .first()
            .waitFor()
          await expectAccessible(page, `${view}${service === empty ? ', empty' : ''}`)
        }
      }
    }, 180_000)

    test('an entry with all fields and sections open, the menu of a value, a notice', async () => {
      const page = await opened(full, 3000, '/?q=could+not+be+paid')
      await row(page, 'could not be paid').click()
      await detail(page).getByRole('heading', { level: 2 }).first().waitFor()
      for (const button of await detail(page).getByRole('button', { expanded: false }).all())
        if ((await button.getAttribute('aria-haspopup')) === null && (await button.isVisible())) await button.click()
      await page.evaluate(`for (const one of document.querySelectorAll('aside summary')) one.click()`)
      await expectAccessible(page, 'detail')
      await detail(page).getByRole('button', { name: 'Actions for Path' }).click()
      await page.getByRole('menu').waitFor()
      await expectAccessible(page, 'menu of a value', { hasPopup: true })
      await page.keyboard.press('Escape')
      await page.keyboard.press('l')
      await page
        .getByRole('status')
        .filter({ hasText: /address/ })
        .waitFor()
      await expectAccessible(page, 'notice')
    }, 180_000)

    test('other states', async () => {
      const page = await opened(full, 3000)
      for (const [what, path, reach] of STATES) {
        await goTo(page, path)
        await reach(page)
        await expectAccessible(page, what)
        await page.keyboard.press('Escape')
      }
      await goTo(page, '/?q=level:(error,fatal)+service:payments+order')
      await rows(page).first().waitFor()
      await page.keyboard.press('p')
      await page.getByRole('button', { name: 'Service', exact: true }).click()
      await page
        .getByRole('button', { name: /^Filter by/ })
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('region', { name: 'Saved queries' }).waitFor()
      await expectAccessible(page, 'values of a field, and the menu', { hasPopup: true })
    }, 180_000)

    test('no token, and a wrong one', async () => {
      const page = await browser.open(full, { width, token: null, isFresh: true })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expectAccessible(page, 'no token')
      await page.getByRole('textbox').fill('not a token!')
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('alert').waitFor()
      await expectAccessible(page, 'a wrong token')
    })
  })
})
