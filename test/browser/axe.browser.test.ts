/**
 * Automated accessibility checks find no problem in any state of the page, light and dark, wide and narrow.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOnly } from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { RICH_TRACE } from './seed-entries.js'
import { seed, SetClock } from './seed.js'
import { detail, eventually, goTo, rows } from './viewer.js'

/** Only rules about colors can fail in the dark theme alone. */
const RULES: Readonly<Record<'light' | 'dark', RunOnly>> = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
}
/** Omits elements without problems: computing their locations takes longer than the checks. */
const FEW_WORDS = { resultTypes: ['violations', 'incomplete'], selectors: false }
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Expected 404 replies: one event has no entry, and one entry is deleted. */
const NOT_THERE = [/404.*(?:evt-nobody-knows|ent_gone_1)/]
/** High enough to show all elements, because axe can compute the contrast only of visible ones. */
const HEIGHT = 1200
const GREAT_HEIGHT = 3000
const VIEWS = ['entries', 'errors', 'traces', 'requests', 'releases', 'monitors', 'feedback', 'rejected']

function wordsOf(nodes: AxeResults['violations'][number]['nodes']): string {
  return nodes
    .slice(0, 4)
    .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary?.replaceAll('\n', ' ').slice(0, 200)}`)
    .join(' | ')
}

describeInBrowser('accessible', () => {
  const browser = useBrowser()
  let full: IngestService
  let empty: IngestService
  let rich: string

  beforeAll(async () => {
    const clock = new SetClock()
    full = await browser.serve({ clock })
    empty = await browser.serve()
    await seed(full.url, clock)
    rich = full.entries({ q: '"could not be paid"' }).items[0]?.id ?? ''
  })

  describe.each([1440, 1024, 390])('%i pixels wide, in light and in dark', (width) => {
    async function opened(
      service: IngestService,
      more: { path?: string; height?: number; token?: null; isFresh?: boolean } = {},
    ): Promise<Page> {
      const page = await browser.open(service, { width, height: HEIGHT, tolerates: NOT_THERE, ...more })
      // Evaluates the source, because the page's policy forbids script elements.
      await page.evaluate(SOURCE)
      return page
    }

    /** @param hasPopup skips the check of target sizes, because an open popup covers some targets */
    async function expectAccessible(page: Page, what: string, hasPopup = false): Promise<void> {
      const rules = { 'target-size': { enabled: !hasPopup } }
      await eventually(() => page.getByText('Loading …').count()).toBe(0)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        // Waits for the next frame, which updates the styles.
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
        const { violations, passes, incomplete }: AxeResults = await page.evaluate(
          `axe.run(document, ${JSON.stringify({ ...FEW_WORDS, rules: colorScheme === 'light' ? rules : {}, runOnly: RULES[colorScheme] })})`,
        )
        // Rules that failed to complete have no violations, but are listed here.
        expect(
          incomplete
            .filter((rule) => 'error' in rule)
            .map((rule) => JSON.stringify([rule.id, rule.error, rule.nodes.map((n) => n.html.slice(0, 200))])),
          what,
        ).toEqual([])
        expect(
          passes.map(({ id }) => id),
          what,
        ).toContain('color-contrast')
        expect(violations.map(({ id, nodes }) => `${what}, ${colorScheme}: ${id}: ${wordsOf(nodes)}`)).toEqual([])
      }
    }

    test('the views with data', async () => {
      const page = await opened(full)
      for (const view of VIEWS) {
        await goTo(page, `/?view=${view}`)
        await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor()
        await expectAccessible(page, view)
      }
    })

    test('the empty views', async () => {
      const page = await opened(empty)
      for (const view of VIEWS) {
        await goTo(page, `/?view=${view}`)
        await page.getByRole('heading', { level: 2 }).first().waitFor()
        await expectAccessible(page, `${view}, empty`)
      }
    })

    test('an entry with all fields and sections open, and a deleted entry', async () => {
      const page = await opened(full, { path: `/?entry=${rich}`, height: GREAT_HEIGHT })
      await detail(page).getByRole('heading', { level: 2 }).first().waitFor()
      for (const button of await detail(page).getByRole('button', { expanded: false }).all())
        if ((await button.getAttribute('aria-haspopup')) === null && (await button.isVisible())) await button.click()
      await page.evaluate(`for (const one of document.querySelectorAll('aside summary')) one.click()`)
      await expectAccessible(page, 'detail')
      await goTo(page, `/?view=errors&entry=${rich}`)
      await expectAccessible(page, 'errors with detail')
      await detail(page).getByRole('button', { name: 'Actions for Path' }).click()
      await page.getByRole('menu').waitFor()
      await expectAccessible(page, 'menu of a value', true)
      await page.keyboard.press('Escape')
      await page.keyboard.press('l')
      await page
        .getByRole('status')
        .filter({ hasText: /address/ })
        .waitFor()
      await expectAccessible(page, 'notice')
      await goTo(page, '/?entry=ent_gone_1')
      await detail(page).getByText('This entry is not stored').waitFor()
      await expectAccessible(page, 'an entry that is gone')
    })

    test('a route with its plot and tables, filters, a picker, a pause, no result, the help', async () => {
      const page = await opened(full, { path: '/?view=requests&open=web-shop+POST+%2Forders', height: GREAT_HEIGHT })
      await page.getByRole('table', { name: 'Slowest requests' }).waitFor()
      await expectAccessible(page, 'route')

      await goTo(page, '/?q=%7C+count+by+user')
      const chart = page.getByRole('region', { name: 'Chart' })
      await chart.getByRole('img').waitFor()
      await expectAccessible(page, 'chart')
      await chart.getByRole('button', { name: 'As a table' }).click()
      await expectAccessible(page, 'chart as a table')

      await goTo(page, `/?view=traces&trace=${RICH_TRACE}`)
      await page.getByRole('link', { name: /card declined/ }).waitFor()
      await expectAccessible(page, 'trace')
      await goTo(page, '/?view=releases&before=service:web-shop+version:2.6.0&after=service:web-shop+version:2.7.0')
      await page.getByRole('row', { name: /POST \/orders/ }).waitFor()
      await expectAccessible(page, 'comparison')

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
      await expectAccessible(page, 'values of a field, and the menu', true)
      await page.keyboard.press('Escape')
      await goTo(page, '/?q=nothing-has-this')
      await page.getByText('No entry matches').waitFor()
      await expectAccessible(page, 'no match')

      await goTo(page, '/')
      await rows(page).first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Help' }).waitFor()
      await expectAccessible(page, 'help')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Delete all records' }).click()
      await page.getByRole('dialog', { name: /^Delete/ }).waitFor()
      await expectAccessible(page, 'clear')
    }, 180_000)

    test('no token, and a wrong one', async () => {
      const page = await opened(full, { token: null, isFresh: true })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expectAccessible(page, 'no token')
      await page.getByRole('textbox').fill('not a token!')
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('alert').waitFor()
      await expectAccessible(page, 'a wrong token')
    })
  })
})
