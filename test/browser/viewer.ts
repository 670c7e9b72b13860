/** Locators for the parts of the page, by role and accessible name. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Longer than any step takes, even on a busy machine. */
const PATIENCE = { timeout: 10_000, interval: 25 }

export function grid(page: Page): Locator {
  return page.getByRole('grid', { name: 'Entries, newest first' })
}

/** Drawn rows of entries, newest first, without the column headers. */
export function rows(page: Page): Locator {
  return grid(page)
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') })
}

export function row(page: Page, text: string | RegExp): Locator {
  return rows(page).filter({ hasText: text })
}

export function detail(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Entry' })
}

/** A section of the detail by its heading, which may end in a number. */
export function section(page: Page, title: string): Locator {
  return detail(page).getByRole('region', { name: new RegExp(`^${title}(?: [\\d,]+)?$`) })
}

export function searchBox(page: Page): Locator {
  return page.getByRole('combobox', { name: 'Search', exact: true })
}

export function viewLink(page: Page, title: string): Locator {
  return page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: new RegExp(`^${title}`) })
}

/** Resolves once the drawn rows contain these texts, newest first. */
export async function expectRows(page: Page, parts: readonly string[]): Promise<void> {
  const shown = async (): Promise<(string | undefined)[]> => {
    const texts = await rows(page).allInnerTexts()
    return texts.map((text, index) => (text.includes(parts[index] ?? '\0') ? parts[index] : text))
  }
  await expect.poll(shown, PATIENCE).toEqual(parts)
}

/** Polls `look` until it satisfies the assertion: `await eventually(() => rows(page).count()).toBe(3)`. */
export function eventually<T>(look: () => T): ReturnType<typeof expect.poll> {
  return expect.poll(look as () => T, PATIENCE)
}

/** Returns the filters in the address. */
export function parametersOf(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}

/** Waits until the list is shown and the stream of new entries is open. */
export async function untilLive(page: Page): Promise<void> {
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
}

/** Position of an element in the window, in pixels. */
export async function boxOf(
  locator: Locator,
): Promise<{ readonly x: number; readonly y: number; readonly width: number; readonly height: number }> {
  const box = await locator.boundingBox()
  if (box === null) throw new Error('the element is not drawn')
  return box
}

/** Whether the element or a descendant has the focus. */
export function hasFocus(locator: Locator): Promise<boolean> {
  return locator.evaluate((element: { contains(other: unknown): boolean; ownerDocument: { activeElement: unknown } }) =>
    element.contains(element.ownerDocument.activeElement),
  )
}

/** Navigates like a link of the page, without a reload. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}
