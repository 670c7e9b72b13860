/** 20,000 entries at 1,000 a second: the page shows all without growing. Frame times are printed, not asserted. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { Meter } from './frames.js'
import { row, untilLive } from './viewer.js'

const PER_SECOND = 1000
const FIRST = 5000
const COUNT = 20_000
const MB = 1 << 20

/** Scrolls from the top to the end, screen by screen, and returns the request of each row by position. */
const SCROLL_THROUGH = `(async () => {
  const grid = document.querySelector('[role=grid]')
  const seen = []
  for (let next = 2; next <= Number(grid.ariaRowCount); next += 1) {
    let row = null
    while ((row = grid.querySelector('[role=row][aria-rowindex="' + next + '"][data-entry]')) === null) {
      grid.scrollTop = Math.max(0, (next - 3) * 28)
      await new Promise(requestAnimationFrame)
    }
    seen.push(/request (\\d+) of/.exec(row.innerText)[1])
  }
  return seen
})()`

/** Resolves to the duration when all entries are acknowledged. */
async function write(service: IngestService, from: number, count: number): Promise<number> {
  const plan = { url: service.url, count, perSecond: PER_SECOND, from }
  const child = fork(fileURLToPath(new URL('writer.mjs', import.meta.url)), [JSON.stringify(plan)])
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const early = ended.then(([code]) => {
    throw new Error(`the writer ended early, with ${code}`)
  })
  const [{ tookMs }] = (await Promise.race([once(child, 'message'), early])) as [{ tookMs: number }]
  await ended
  return tookMs
}

describeInBrowser('a flood', () => {
  const browser = useBrowser()

  /** Waits until the page has all entries and shows the newest. */
  async function untilShown(page: Page, service: IngestService): Promise<void> {
    const newest = service.entries({ limit: 1 }).items[0]?.entry.message ?? ''
    await row(page, newest).waitFor()
  }

  test('does not make the page grow', async () => {
    const service = await browser.serve()
    const page = await browser.open(service, { isFresh: true })
    await untilLive(page)
    // If the stream skips entries, the page loads its list again.
    let reloads = 0
    page.on('request', (request) => {
      if (request.url().includes('/local/entries?')) reloads += 1
    })
    // Delays of an idle page are caused by the machine; they are reported too.
    const idle = await Meter.of(await browser.openEmpty())
    const meter = await Meter.of(page)
    const tookMs = await write(service, 0, FIRST)
    await untilShown(page, service)
    const first = await meter.takeFrames()
    const before = await meter.weigh()
    await meter.takeFrames()

    const restMs = await write(service, FIRST, COUNT - FIRST)
    await untilShown(page, service)
    const rest = await meter.takeFrames()
    const { worstMs: idleMs } = await idle.takeFrames()
    const after = await meter.weigh()

    const reported = [
      `${COUNT} entries in ${Math.round(tookMs + restMs)} ms: ${first.count + rest.count} frames, ${first.slow + rest.slow} above 50 ms, the worst ${Math.round(Math.max(first.worstMs, rest.worstMs))} ms (of an empty page at the same time ${Math.round(idleMs)} ms)`,
      `heap ${(before.heapBytes / MB).toFixed(1)} MB after ${FIRST}, ${(after.heapBytes / MB).toFixed(1)} MB after ${COUNT}`,
      `nodes ${before.nodes}, ${after.nodes}; list loaded again ${reloads} times`,
    ].join('; ')
    process.stdout.write(`${reported}\n`)
    expect(service.counts().total).toBe(COUNT)
    expect(after.heapBytes, reported).toBeLessThanOrEqual(before.heapBytes * 1.5 + 10 * MB)
    expect(after.nodes, reported).toBeLessThan(3000)
  }, 120_000)

  test('leaves the page usable for pausing, searching and scrolling, and no entry is missing afterwards', async () => {
    const service = await browser.serve()
    const page = await browser.open(service)
    await untilLive(page)
    const written = write(service, 0, 3000)
    await row(page, 'request').first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page
      .getByRole('button', { name: /^Paused/ })
      .filter({ hasText: /\d/ })
      .waitFor()
    await page.getByRole('button', { name: /^Paused/ }).click()
    await written
    await untilShown(page, service)
    // The rows match the service's entries in order, without gaps or duplicates.
    const seen = await page.evaluate<string[]>(SCROLL_THROUGH)
    expect(seen).toEqual(service.entries({ limit: 3000 }).items.map(({ entry }) => String(entry.metadata?.['orderId'])))
  })
})
