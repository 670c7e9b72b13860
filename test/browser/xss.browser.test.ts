/**
 * Injection payloads in every field of every endpoint, rendered in every view, detail, picker and tooltip. No payload runs, sends
 * requests to other sites or creates elements. The page shows them unchanged, except for invisible characters, which are shown as marks.
 */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { formatTerm } from '../../src/service/query/language/index.js'
import { toPlainText } from '../../src/service/viewer/plain-text.js'
import { call } from '../service/support.js'
import { VIEWS } from './accessible.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { CORPUS } from './corpus.js'
import { hostileEntry, hostileFeedback, hostileRelease, hostileRequest, refusedBodies } from './hostile.js'
import { detail, eventually, goTo, grid, rows } from './viewer.js'

/** Expected error replies: some event ids have no entry, and some URLs are too long. */
const REFUSED = [/status of (?:400|404|414|431)/]

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

  beforeAll(async () => {
    service = await browser.serve()
    const timestamp = new Date().toISOString()
    const post = async (path: string, body: unknown, status = 200): Promise<void> => {
      const answer = await call(`${service.url}/${path}`, { body })
      expect(answer.status, answer.text.slice(0, 500)).toBe(status)
    }
    await post('ingest/requests', { requests: CORPUS.map((text) => hostileRequest(text, timestamp)) })
    await Promise.all(
      CORPUS.map(async (text, index) => {
        await post('ingest', { batch_id: text, logs: [hostileEntry(text, `event-${index}`, timestamp)] })
        await post('feedback', hostileFeedback(text, `event-${index}`))
        await post('feedback', hostileFeedback(text, text))
        await post('releases/register', hostileRelease(text))
        await post(`heartbeat/${encodeURIComponent(text.slice(0, 500))}`, undefined)
        for (const { path, body } of refusedBodies(text, timestamp, index)) await post(path, body, 422)
      }),
    )
    expect(service.counts().total).toBe(CORPUS.length)
  })

  async function opened(path = '/'): Promise<void> {
    page = await browser.open(service, { path, tolerates: REFUSED })
    await page.getByRole('heading').first().waitFor()
  }

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

  const textOf = (element: { textContent: string }): string => element.textContent

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

  test('in the views, also as their filters', async () => {
    await opened()
    for (const view of VIEWS) {
      await goTo(page, `/?view=${view}`)
      await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor()
      await showAll()
      await openAll('main')
      for (const element of (await page.locator('main [title], main svg').all()).slice(0, 6))
        await element.hover({ force: true, timeout: 500 }).catch(() => {})
      await expectHarmless(view)
      // Texts are shown unchanged or truncated.
      const shown: string = await page.getByRole('main').evaluate(textOf)
      const unseen = CORPUS.map((text) => toPlainText(text.slice(0, 40))).filter((text) => !shown.includes(text))
      // Monitors are shown as hashes; the list of entries draws a part of its rows, and is checked below.
      if (view !== 'monitors' && view !== 'entries') expect(unseen, view).toEqual([])

      const text = '<img src=x onerror="window.__pwned=1">'
      const names = ['q', 'since', 'trace', 'before', 'after', 'entry']
      const filters = new URLSearchParams([['view', view], ...names.map((name) => [name, text] as [string, string])])
      await goTo(page, `/?${filters.toString()}`)
      await eventually(() => page.getByText('Loading …').count()).toBe(0)
      await expectHarmless(`filters of ${view}`)
    }
  })

  test('in the list, as values of fields, as filters, and in the address', async () => {
    await opened()
    await rows(page).first().waitFor()
    const seen = new Set<string>()
    const unseen = (): string[] => {
      const all = [...seen]
      return CORPUS.map((text) => toPlainText(text.slice(0, 200))).filter(
        (text) => !all.some((one) => one.includes(text)),
      )
    }
    // The list renders rows a frame after scrolling, so a busy machine may need several passes.
    for (let pass = 0; pass < 40 && unseen().length > 0; pass += 1) {
      for (let top = 0; top < CORPUS.length * 28; top += 400) {
        await grid(page).evaluate((element: { scrollTop: number }, to) => (element.scrollTop = to), top)
        for (const text of await rows(page).evaluateAll((all: { textContent: string }[]) =>
          all.map(({ textContent }) => textContent),
        ))
          seen.add(text)
        await expectHarmless(`from ${top}`)
      }
    }
    expect(unseen()).toEqual([])

    for (const field of ['service', 'tag']) {
      await goTo(page, `/?field=${field}`)
      const values = page.getByRole('region', { name: 'Fields' }).getByRole('listitem')
      await eventually(() => values.count()).toBeGreaterThanOrEqual(25)
      await expectHarmless(field)
    }
    for (const text of CORPUS.filter((one) => one.length < 500 && one.trim() !== '')) {
      const q = `${formatTerm('service', text)} ${JSON.stringify(text.trim())}`
      await goTo(page, `/?${new URLSearchParams({ q, columns: `metadata.${text}`, trace: text }).toString()}`)
      await expectHarmless(text)
    }
  })

  test('in each detail, with all sections open, unchanged', async () => {
    await opened()
    for (const { id, entry } of service.entries({ limit: CORPUS.length }).items) {
      const text = entry.message
      await goTo(page, `/?entry=${id}`)
      await detail(page).getByText(id).waitFor()
      await openAll('aside')
      await expectHarmless(text)
      if (text.length > 250) continue
      // Message, error, breadcrumb, request, user, tags, metadata and other fields are complete.
      const copies = (await detail(page).evaluate(textOf)).split(toPlainText(text)).length - 1
      expect(copies, `${JSON.stringify(text)} is shown`).toBeGreaterThanOrEqual(text.length < 60 ? 20 : 8)
      if (text.length > 40) continue
      // Menus have links with the value in their query.
      await detail(page).getByRole('button', { name: 'Actions for Path', exact: true }).first().click()
      await page.getByRole('menu').waitFor()
      await expectHarmless(`menu of ${text}`)
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'hidden' })
    }
  })
})
