/** The page's parts, found as a user finds them: by role and name. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Longer than any step takes on a busy machine. */
const PATIENCE = { timeout: 10_000, interval: 25 }

export function grid(page: Page): Locator {
  return page.getByRole('grid', { name: 'Entries, newest first' })
}

/** Those of entries that are drawn, newest first; without the heads of the columns. */
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

/** A part of the detail by its heading; a number may follow it. */
export function section(page: Page, title: string): Locator {
  return detail(page).getByRole('region', { name: new RegExp(`^${title}(?: [\\d,]+)?$`) })
}

export function searchBox(page: Page): Locator {
  return page.getByRole('combobox', { name: 'Search', exact: true })
}

export function viewLink(page: Page, title: string): Locator {
  return page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: new RegExp(`^${title}`) })
}

/** Resolves once the drawn rows are these, by a part of each, newest first. */
export async function expectRows(page: Page, parts: readonly string[]): Promise<void> {
  const shown = async (): Promise<(string | undefined)[]> => {
    const texts = await rows(page).allInnerTexts()
    return texts.map((text, index) => (text.includes(parts[index] ?? '\0') ? parts[index] : text))
  }
  await expect.poll(shown, PATIENCE).toEqual(parts)
}

/** Resolves once `look` satisfies the assertion: `await eventually(() => rows(page).count()).toBe(3)`. */
export function eventually<T>(look: () => T): ReturnType<typeof expect.poll> {
  return expect.poll(look as () => T, PATIENCE)
}

/** The filters in the address bar. */
export function parametersOf(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}

/** The list is there and the stream of new entries is open. */
export async function untilLive(page: Page): Promise<void> {
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
}

/** Its position in pixels of the window. */
export async function boxOf(
  locator: Locator,
): Promise<{ readonly x: number; readonly y: number; readonly width: number; readonly height: number }> {
  const box = await locator.boundingBox()
  if (box === null) throw new Error('the element is not drawn')
  return box
}

/** Whether the focus is on it, or within it. */
export function hasFocus(locator: Locator): Promise<boolean> {
  return locator.evaluate((element: { contains(other: unknown): boolean; ownerDocument: { activeElement: unknown } }) =>
    element.contains(element.ownerDocument.activeElement),
  )
}

/** As a link of the page would, without loading it again. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}
