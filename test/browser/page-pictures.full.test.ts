/**
 * The pictures of the page in the documentation. The test checks that the page shows what they show. To make them anew:
 *
 *     npm run build && UPDATE_DOCS=1 npx vitest run --config test/vitest.config.ts --project full test/browser/page-pictures
 */
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'
import { root } from '../markdown.js'
import { ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { toPalettePng } from './palette-png.js'
import { aroundCardDeclined, cardDeclined } from './seed-entries.js'
import { SetClock, seed } from './seed.js'
import { detail, row, section, untilLive } from './viewer.js'

/** The time of the service and of the page, so that a picture shows the same times whenever it is made. */
const NOW_MS = Date.parse('2026-11-20T14:30:00Z')
/** The package contains them. */
const MAX_BYTES = 40_000

describeInBrowser('the pictures of the page', () => {
  const browser = useBrowser()
  let service: IngestService
  let id = ''

  beforeAll(async () => {
    const clock = new SetClock()
    service = await browser.serve({ clock })
    await seed(service.url, clock, NOW_MS)
    clock.set(NOW_MS)
    const declined = newestDeclined()
    await ingest(service, [...aroundCardDeclined(Date.parse(declined.timestamp)), declined])
    id = service.entries({ q: 'event_id:evt-newest' }).items[0]?.id ?? ''
  })

  test.each(['light', 'dark'] as const)('%s: an error, its stack and its breadcrumbs', async (colorScheme) => {
    const page = await browser.open(service, { colorScheme, width: 1152, height: 648, isFresh: true })
    await page.clock.setFixedTime(NOW_MS)
    await page.goto(`${service.origin}/?entry=${id}`)
    await untilLive(page)
    await detail(page).getByText('4 s ago').waitFor()
    await section(page, 'Error').getByText('charge.js').first().waitFor()
    await section(page, 'Breadcrumbs').getByText('voucher applied').waitFor()
    expect(await row(page, 'the order of Jane Doe could not be paid').first().getAttribute('aria-selected')).toBe(
      'true',
    )

    const file = join(root, `docs/images/page-${colorScheme}.png`)
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, toPalettePng(await page.screenshot()))
    expect(statSync(file).size).toBeLessThan(MAX_BYTES)
  })
})

/** Four seconds old; with a stack that is short enough to see the breadcrumbs below it. */
function newestDeclined(): LogEntry {
  const entry = cardDeclined(NOW_MS - 4_000)
  const [stack = ''] = (entry.error?.stack ?? '').split('\ncaused by')
  return { ...entry, error: { ...entry.error, stack }, metadata: { ...entry.metadata, event_id: 'evt-newest' } }
}
