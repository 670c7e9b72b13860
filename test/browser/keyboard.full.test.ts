/** All important functions work without a pointer. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import {
  detail,
  eventually,
  expectRows,
  grid,
  hasFocus,
  parametersOf,
  row,
  rows,
  searchBox,
  untilLive,
  viewLink,
} from './viewer.js'

describeInBrowser('the keyboard', () => {
  const browser = useBrowser()
  let service: IngestService

  beforeAll(async () => {
    service = await browser.serve()
    const logs = Array.from({ length: 100 }, (_, n) => entryOf({ message: `entry ${n + 1}` }))
    await ingest(service, logs)
  })

  async function opened(): Promise<Page> {
    const page = await browser.open(service)
    await rows(page).first().waitFor()
    await untilLive(page)
    return page
  }

  async function press(page: Page, ...keys: readonly string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key)
  }

  const selected = (page: Page) => grid(page).getByRole('row', { selected: true })
  const expectSelected = (page: Page, message: string): Promise<void> =>
    selected(page).getByText(message, { exact: true }).waitFor()
  const expectOpen = (page: Page, message: string): Promise<void> =>
    detail(page).getByRole('heading', { name: message, exact: true }).waitFor()

  test('j, k and arrows select, Enter opens with the focus, Esc closes, and the list continues from there', async () => {
    const page = await opened()
    await press(page, 'j')
    await expectSelected(page, 'entry 100')
    expect(await hasFocus(grid(page))).toBe(true)
    await press(page, 'j', 'ArrowDown', 'k')
    await expectSelected(page, 'entry 99')
    expect(await detail(page).count()).toBe(0)
    await press(page, 'Enter')
    await expectOpen(page, 'entry 99')
    expect(await row(page, 'entry 99').getAttribute('aria-selected')).toBe('true')
    await eventually(() => hasFocus(page.locator('.detail-panel'))).toBe(true)
    await press(page, 'j')
    await expectOpen(page, 'entry 98')
    await expectSelected(page, 'entry 98')
    await press(page, 'k', 'k')
    await expectOpen(page, 'entry 100')
    await press(page, 'Escape')
    await eventually(() => detail(page).count()).toBe(0)
    await eventually(() => hasFocus(grid(page))).toBe(true)
    expect(parametersOf(page)).toEqual({})
    await expectSelected(page, 'entry 100')
  })

  test('the selected row stays visible when it moves beyond the screen and back; t scrolls to the top', async () => {
    const page = await opened()
    await press(page, ...Array.from({ length: 60 }, () => 'j'))
    await expectSelected(page, 'entry 41')
    const isInSight = async (): Promise<boolean> => {
      const [inner, outer] = await Promise.all([selected(page).boundingBox(), grid(page).boundingBox()])
      return (
        inner !== null && outer !== null && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height + 1
      )
    }
    await eventually(isInSight).toBe(true)
    await press(page, ...Array.from({ length: 40 }, () => 'k'))
    await expectSelected(page, 'entry 81')
    await eventually(isInSight).toBe(true)
    await press(page, 't')
    await eventually(() => grid(page).evaluate((element: { scrollTop: number }) => element.scrollTop)).toBe(0)
  })

  test('/ focuses the search, where keys are not commands; Esc leaves it', async () => {
    const page = await opened()
    await press(page, '/')
    await eventually(() => hasFocus(searchBox(page))).toBe(true)
    await page.keyboard.type('entry 77 jkp?')
    expect(await searchBox(page).inputValue()).toBe('entry 77 jkp?')
    await page.getByText('No entry matches').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await searchBox(page).fill('"entry 77"')
    await expectRows(page, ['entry 77'])
    await press(page, 'Escape', 'j', 'Enter')
    await expectOpen(page, 'entry 77')
  })

  test('p pauses, ? opens the help, which receives all keys, numbers switch views; with Ctrl, Meta or Alt they do not', async () => {
    const page = await opened()
    for (const key of ['Alt+j', 'Meta+j', 'Control+Enter', 'Alt+p', 'Meta+2', 'Alt+?']) await press(page, key)
    expect(await selected(page).count()).toBe(0)
    expect(parametersOf(page)).toEqual({})
    await page.getByRole('button', { name: 'Pause', pressed: false }).waitFor()
    await press(page, 'p')
    await page.getByRole('button', { name: /^Paused/, pressed: true }).waitFor()
    await press(page, 'p')
    await page.getByRole('button', { name: 'Pause', pressed: false }).waitFor()

    await press(page, 'j', 'Enter')
    await expectOpen(page, 'entry 100')
    await press(page, '?')
    const help = page.getByRole('dialog', { name: 'Help' })
    for (const text of ['Next entry', 'Previous entry', 'Search', 'Pause and resume the live tail'])
      await help.getByText(text, { exact: true }).waitFor()
    await press(page, 'j')
    expect(await hasFocus(help)).toBe(true)
    await press(page, 'Escape')
    await eventually(() => help.count()).toBe(0)
    await expectOpen(page, 'entry 100')

    const titles = ['Entries', 'Errors', 'Traces', 'Requests', 'Releases', 'Monitors', 'Feedback', 'Rejected']
    for (const [index, title] of [...titles.entries()].toReversed()) {
      await press(page, String(index + 1))
      await viewLink(page, title).and(page.locator('[aria-current=page]')).waitFor()
    }
  })

  test('Tab reaches all controls from the top, and the focus is visible', async () => {
    const page = await opened()
    await press(page, 'Tab')
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    expect(await hasFocus(skip)).toBe(true)
    expect(await skip.isVisible()).toBe(true)
    const reached = new Set<string>()
    for (let n = 0; n < 60; n += 1) {
      await press(page, 'Tab')
      const at: { name: string; isMarked: boolean } | null = await page.evaluate(`(() => {
        const element = document.activeElement
        if (element === null || element === document.body) return null
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
        const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText
        return { name: name.trim(), isMarked: (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none' }
      })()`)
      if (at === null) break
      expect(at.isMarked, `focus on ${at.name} can be seen`).toBe(true)
      reached.add(at.name.replace(/\s[^]*$/, ''))
    }
    for (const name of ['Errors', 'Rejected', '?', 'Search', 'debug', 'Fields', 'Pause', 'Select', 'Entries,'])
      expect([...reached]).toContain(name)
  })
})
