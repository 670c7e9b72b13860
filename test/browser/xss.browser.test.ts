/**
 * Injection payloads in every field of every endpoint, rendered in every view, detail, picker and tooltip. No payload runs, sends
 * requests to other sites or creates elements. The page shows them unchanged, except for invisible characters, which are shown as marks.
 */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { formatTerm } from '../../src/service/query/language/index.js'
import { toPlainText } from '../../src/service/viewer/plain-text.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { CORPUS } from './corpus.js'
import { hostileEntry, hostileFeedback, hostileRelease, hostileRequest, refusedBodies } from './hostile.js'
import { detail, eventually, goTo, grid, rows } from './viewer.js'

const VIEWS = ['entries', 'errors', 'traces', 'requests', 'releases', 'monitors', 'feedback', 'rejected']
/** Expected error replies: some event ids have no entry, and some URLs are too long. */
const REFUSED = [/status of (?:400|404|414|431)/]
const FIELDS = ['service', 'environment', 'version', 'release_id', 'tag']

/** Finds elements that the page never has in its body, attributes with code, and URLs of other sites. */
const LOOK_FOR_FOREIGN = `(() => {
  const foreign = [...document.body.querySelectorAll('script, iframe, frame, object, embed, img, image, video, audio, source, base, meta, link, style, math, marquee, template, foreignObject, use, animate, form[action], [srcdoc], [style*=url]')]
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      const isHandler = name.startsWith('on')
      const isAway = ['href', 'src', 'action', 'formaction', 'xlink:href', 'data'].includes(name) && !/^(?:\\/(?!\\/)|#|data:,$|data:image\\/svg\\+xml,[^<>]*$|vscode:\\/\\/file\\/[^?#]*$)/.test(value)
      if (isHandler || isAway) foreign.push(element)
    }
  }
  return { flag: window.__pwned === undefined ? null : window.__pwned, foreign: foreign.map((element) => element.outerHTML.slice(0, 200)) }
})()`

describeInBrowser('hostile texts', () => {
  const browser = useBrowser()
  let service: IngestService
  let page: Page

  const eventOf = (index: number): string => `event-${index}`

  beforeAll(async () => {
    service = await browser.serve()
    const timestamp = new Date().toISOString()
    const post = async (path: string, body: unknown, status = 200): Promise<void> => {
      const answer = await fetch(`${service.url}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'hostile' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      expect(answer.status, text.slice(0, 500)).toBe(status)
    }
    await post('ingest/requests', { requests: CORPUS.map((text) => hostileRequest(text, timestamp)) })
    await Promise.all(
      CORPUS.map(async (text, index) => {
        await post('ingest', { batch_id: text, logs: [hostileEntry(text, eventOf(index), timestamp)] })
        await post('feedback', hostileFeedback(text, eventOf(index)))
        await post('feedback', hostileFeedback(text, text))
        await post('releases/register', hostileRelease(text))
        await post(`heartbeat/${encodeURIComponent(text.slice(0, 500))}`, undefined)
        for (const { path, body } of refusedBodies(text, timestamp, index)) await post(path, body, 422)
      }),
    )
    expect(service.counts().total).toBe(CORPUS.length)
  }, 60_000)

  async function expectHarmless(what: string): Promise<void> {
    expect(await page.evaluate<unknown>(LOOK_FOR_FOREIGN), what).toEqual({ flag: null, foreign: [] })
  }

  /** Opens all foldable parts, recursively. */
  async function openAll(within: string): Promise<void> {
    await page.evaluate(`(async () => {
      for (let round = 0; round < 3; round += 1) {
        for (const one of document.querySelectorAll('${within} [aria-expanded=false]:not([aria-haspopup]), ${within} details:not([open]) > summary')) one.click()
        // Opened sections are rendered after this turn of the event loop.
        await new Promise((resolve) => setTimeout(resolve))
      }
    })()`)
  }

  async function showAll(): Promise<void> {
    await eventually(() => page.getByText('Loading …').count()).toBe(0)
    const more = page.getByRole('button', { name: 'Show more' })
    const items = page.locator('main li, main tr')
    while ((await more.count()) > 0) {
      const before = await items.count()
      await more.click()
      await eventually(() => items.count()).toBeGreaterThan(before)
    }
  }

  /** Moves the pointer over elements that react to it. */
  async function hoverOver(selector: string, limit: number): Promise<void> {
    for (const element of (await page.locator(selector).all()).slice(0, limit)) {
      const box = await element.boundingBox()
      if (box !== null) await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    }
  }

  test('the check detects a page that trusts its data', async () => {
    page = await browser.open(service, { isFresh: true, tolerates: [/./] })
    await rows(page).first().waitFor()
    await page.evaluate(`(() => {
      const [link, image] = [document.createElement('a'), document.createElement('img')]
      link.href = 'javascript:window.__pwned=1'
      image.setAttribute('src', 'x')
      document.body.append(link, image)
      window.__pwned = 1
    })()`)
    const { flag, foreign } = await page.evaluate<{ flag: unknown; foreign: string[] }>(LOOK_FOR_FOREIGN)
    expect(flag).toBe(1)
    expect(foreign).toEqual(
      expect.arrayContaining([expect.stringContaining('javascript:'), expect.stringContaining('<img')]),
    )
  })

  test.each(VIEWS)('in the view %s', async (view) => {
    page = await browser.open(service, { path: `/?view=${view}`, tolerates: REFUSED })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await showAll()
    await openAll('main')
    await hoverOver('main [title], main svg', 30)
    await expectHarmless(view)
    // Texts are shown unchanged or truncated.
    const shown: string = await page
      .getByRole('main')
      .evaluate((element: { textContent: string }) => element.textContent)
    const unseen = CORPUS.map((text) => toPlainText(text.slice(0, 40))).filter((text) => !shown.includes(text))
    // Monitors are shown as hashes; the list of entries is checked below.
    if (view !== 'monitors' && view !== 'entries') expect(unseen).toEqual([])
  })

  test('in the list, to its end', async () => {
    page = await browser.open(service, { tolerates: REFUSED })
    await rows(page).first().waitFor()
    const seen = new Set<string>()
    const unseen = (): string[] =>
      CORPUS.map((text) => toPlainText(text.slice(0, 200))).filter(
        (text) => ![...seen].some((shown) => shown.includes(text)),
      )
    // The list renders rows a frame after scrolling, so a busy machine may need several passes.
    for (let pass = 0; pass < 20 && unseen().length > 0; pass += 1) {
      for (let top = 0; top < CORPUS.length * 28; top += 400) {
        await grid(page).evaluate((element: { scrollTop: number }, to) => {
          element.scrollTop = to
        }, top)
        for (const text of await rows(page).evaluateAll((all: { textContent: string }[]) =>
          all.map(({ textContent }) => textContent),
        ))
          seen.add(text)
        await expectHarmless(`from ${top}`)
      }
    }
    expect(unseen()).toEqual([])
  })

  test('as values of fields, as filters, and in the address', async () => {
    page = await browser.open(service, { tolerates: REFUSED })
    await rows(page).first().waitFor()
    for (const field of FIELDS) {
      await goTo(page, `/?field=${field}`)
      const values = page.getByRole('region', { name: 'Fields' }).getByRole('listitem')
      await eventually(() => values.count()).toBeGreaterThanOrEqual(50)
      await expectHarmless(field)
    }
    for (const text of CORPUS.filter((one) => one.length < 500 && one.trim() !== '')) {
      const filters = new URLSearchParams({
        q: formatTerm('service', text) + ' ' + JSON.stringify(text.trim()),
        columns: `metadata.${text}`,
        trace: text,
      })
      await goTo(page, `/?${filters.toString()}`)
      await expectHarmless(text)
    }
  })

  test.each(['errors', 'requests', 'traces', 'releases'])('as filters of the view %s', async (view) => {
    const text = '<img src=x onerror="window.__pwned=1">'
    const filters = new URLSearchParams({
      view,
      q: text,
      since: text,
      trace: text,
      before: text,
      after: text,
      entry: text,
    })
    page = await browser.open(service, { path: `/?${filters.toString()}`, tolerates: REFUSED })
    await page.getByRole('heading').first().waitFor()
    await eventually(() => page.getByText('Loading …').count()).toBe(0)
    await expectHarmless(view)
  })

  test('in each detail, with all sections open, unchanged', async () => {
    page = await browser.open(service, { tolerates: REFUSED })
    await rows(page).first().waitFor()
    const items = service.entries({ limit: CORPUS.length }).items
    for (const { id, entry } of items) {
      const text = entry.message
      await goTo(page, `/?entry=${id}`)
      await detail(page).getByText(id).waitFor()
      await openAll('aside')
      await expectHarmless(text)
      if (text.length < 60) {
        // Menus have links with the value in their query.
        for (const name of ['Path', 'Trace id', 'User agent']) {
          await detail(page)
            .getByRole('button', { name: `Actions for ${name}`, exact: true })
            .first()
            .click()
          await page.getByRole('menu').waitFor()
          await expectHarmless(`menu of ${text}`)
          await page.keyboard.press('Escape')
          // The click on the next button must not meet an open menu.
          await page.getByRole('menu').waitFor({ state: 'hidden' })
        }
      }
      if (text.length > 250) continue
      const shown = await detail(page).evaluate((element: { textContent: string }) => element.textContent)
      // Message, error, breadcrumb, request, user, tags, metadata and other fields are complete.
      const copies = shown.split(toPlainText(text)).length - 1
      expect(copies, `${JSON.stringify(text)} is shown`).toBeGreaterThanOrEqual(text.length < 60 ? 20 : 8)
    }
  }, 180_000)
})
