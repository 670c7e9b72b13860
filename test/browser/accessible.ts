/** Checks the accessibility of what a page shows with axe. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOnly } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from './viewer.js'

export const VIEWS = ['entries', 'errors', 'traces', 'requests', 'releases', 'monitors', 'feedback', 'rejected']

/** Only rules about colors can fail in the dark theme alone. */
const RULES: Readonly<Record<'light' | 'dark', RunOnly>> = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
}
/** Omits elements without problems: computing their locations takes longer than the checks. */
const FEW_WORDS = { resultTypes: ['violations', 'incomplete'], selectors: false }
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** @param hasPopup skips the check of target sizes, because an open popup covers some targets */
export async function expectAccessible(
  page: Page,
  what: string,
  { schemes = ['dark', 'light'], hasPopup = false }: { schemes?: ('dark' | 'light')[]; hasPopup?: boolean } = {},
): Promise<void> {
  await eventually(() => page.getByText('Loading …').count()).toBe(0)
  // Evaluates the source, because the page's policy forbids script elements.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(SOURCE)
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    // Waits for the next frame, which updates the styles.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    const rules = colorScheme === 'light' ? { 'target-size': { enabled: !hasPopup } } : {}
    const { violations, passes, incomplete }: AxeResults = await page.evaluate(
      `axe.run(document, ${JSON.stringify({ ...FEW_WORDS, rules, runOnly: RULES[colorScheme] })})`,
    )
    // Rules that failed to complete have no violations.
    const failed = incomplete.filter((rule) => 'error' in rule)
    const found = [...failed, ...violations].map(({ id, nodes }) => `${what}, ${colorScheme}: ${id}: ${toText(nodes)}`)
    expect(found).toEqual([])
    expect(
      passes.map(({ id }) => id),
      what,
    ).toContain('color-contrast')
  }
}

function toText(nodes: AxeResults['violations'][number]['nodes']): string {
  return nodes
    .slice(0, 4)
    .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary?.replaceAll('\n', ' ').slice(0, 200)}`)
    .join(' | ')
}
