/** The page shows all entries of a flood without growing. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { entryOf, ingest } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { row, untilLive } from './viewer.js'

const FIRST = 3000
const COUNT = 10_000
const MB = 1 << 20

/** Scrolls from the top to the end, screen by screen, and returns the number of each row by position. */
const SCROLL_THROUGH = `(async () => {
  const grid = document.querySelector('[role=grid]')
  const seen = []
  for (let next = 2; next <= Number(grid.ariaRowCount); next += 1) {
    let row = null
    while ((row = grid.querySelector('[role=row][aria-rowindex="' + next + '"][data-entry]')) === null) {
      grid.scrollTop = Math.max(0, (next - 3) * 28)
      await new Promise(requestAnimationFrame)
    }
    seen.push(Number(/request (\\d+) of/.exec(row.innerText)[1]))
  }
  return seen
})()`

async function write(service: IngestService, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += 100)
    await ingest(
      service,
      Array.from({ length: 100 }, (_, n) =>
        entryOf({
          message: `request ${first + n} of many`,
          timestamp: new Date().toISOString(),
          level: n % 10 === 0 ? 'error' : 'info',
          request: { method: 'GET', path: `/orders/${n}`, status_code: 200, duration_ms: n },
          metadata: { orderId: first + n, cart: { items: n % 7 } },
        }),
      ),
    )
}

/** Heap after a garbage collection, and elements of the document. */
async function weigh(page: Page): Promise<{ heapBytes: number; nodes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return { heapBytes: usedSize, nodes: await page.evaluate<number>(`document.querySelectorAll('*').length`) }
}

describeInBrowser('a flood', () => {
  const browser = useBrowser()

  test('does not make the page grow', async () => {
    const service = await browser.serve()
    const page = await browser.open(service, { isFresh: true })
    await untilLive(page)
    await write(service, 0, FIRST)
    await row(page, `request ${FIRST - 1} of`).waitFor()
    const before = await weigh(page)
    await write(service, FIRST, COUNT)
    await row(page, `request ${COUNT - 1} of`).waitFor()
    const after = await weigh(page)
    expect(after.heapBytes).toBeLessThanOrEqual(before.heapBytes * 1.5 + 10 * MB)
    expect(after.nodes).toBeLessThan(3000)
  }, 120_000)

  test('leaves the page usable for pausing, and no entry is missing or out of order afterwards', async () => {
    const service = await browser.serve()
    const page = await browser.open(service)
    await untilLive(page)
    const written = write(service, 0, 2000)
    await row(page, 'request').first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const paused = page.getByRole('button', { name: /^Paused/ })
    await paused.waitFor()
    await written
    await paused.click()
    await row(page, 'request 1999 of').waitFor()
    const seen = await page.evaluate<number[]>(SCROLL_THROUGH)
    expect(seen).toEqual(service.entries({ limit: 2000 }).items.map(({ entry }) => entry.metadata?.['orderId']))
  }, 120_000)
})
