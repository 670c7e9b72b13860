/** Measures frames, heap and document size of a page during a test. */
import type { CDPSession, Page } from 'playwright-core'

/** Records the time between frames; `takeFrames` reads and resets it. */
const START = `(() => {
  const deltas = []
  let last = performance.now()
  const tick = (now) => {
    deltas.push(now - last)
    last = now
    requestAnimationFrame(tick)
  }
  requestAnimationFrame(tick)
  window.takeFrames = () => deltas.splice(0)
})()`

export interface Frames {
  readonly count: number
  readonly worstMs: number
  /** Number of frames above 50 ms, which users may notice. */
  readonly slow: number
}

export interface Weight {
  /** Heap size after a garbage collection. */
  readonly heapBytes: number
  readonly nodes: number
}

export class Meter {
  readonly #page: Page
  readonly #session: CDPSession

  private constructor(page: Page, session: CDPSession) {
    this.#page = page
    this.#session = session
  }

  static async of(page: Page): Promise<Meter> {
    await page.evaluate(START)
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.enable')
    return new Meter(page, session)
  }

  async takeFrames(): Promise<Frames> {
    const deltas = await this.#page.evaluate<number[]>('takeFrames()')
    return { count: deltas.length, worstMs: Math.max(0, ...deltas), slow: deltas.filter((ms) => ms > 50).length }
  }

  /** Collects garbage, which stops the page: call `takeFrames()` first. */
  async weigh(): Promise<Weight> {
    await this.#session.send('HeapProfiler.collectGarbage')
    await this.#session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage')
    return { heapBytes: usedSize, nodes: await this.#page.evaluate<number>(`document.querySelectorAll('*').length`) }
  }
}
