/** Automated accessibility checks of the views and the detail. The full suite checks all states, widths and themes. */
import { expect, test } from 'vitest'
import { expectAccessible, VIEWS } from './accessible.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { seed, SetClock } from './seed.js'
import { detail, goTo } from './viewer.js'

describeInBrowser('accessible', () => {
  const browser = useBrowser()

  test('the views, and the detail of an entry with all fields', async () => {
    const clock = new SetClock()
    const service = await browser.serve({ clock })
    await seed(service.url, clock)
    const page = await browser.open(service, { height: 1200, tolerates: [/404.*evt-nobody-knows/] })
    for (const view of VIEWS) {
      await goTo(page, `/?view=${view}`)
      await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor()
      await expectAccessible(page, view, { schemes: ['light'] })
    }
    const id = service.entries({ q: '"could not be paid"' }).items[0]?.id
    expect(id).toBeDefined()
    await goTo(page, `/?entry=${id}`)
    await detail(page).getByRole('heading', { level: 2 }).first().waitFor()
    await expectAccessible(page, 'detail', { schemes: ['dark'] })
  }, 180_000)
})
