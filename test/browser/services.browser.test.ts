/** The page for several services: what a row shows, stack frames, marks of new errors and of feedback. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { call, entryOf, ingest, requestLog } from '../service/support.js'
import { describeInBrowser, useBrowser } from './browser.js'
import { detail, eventually, expectRows, goTo, parametersOf, row, untilLive } from './viewer.js'

const START_MS = Date.now()
const ago = (ms: number): string => new Date(START_MS - ms).toISOString()

/** `POST /checkout` of the shop calls `POST /orders`, whose request is logged first. */
const CHECKOUT: readonly LogEntry[] = [
  entryOf({
    message: 'request completed',
    timestamp: ago(900),
    service: 'orders',
    trace: { trace_id: 't-1', span_id: 'b', parent_span_id: 'a' },
    request: { method: 'POST', path: '/orders', status_code: 201, duration_ms: 40 },
  }),
  entryOf({
    message: 'request errored',
    level: 'error',
    timestamp: ago(800),
    service: 'shop',
    trace: { trace_id: 't-1', span_id: 'a' },
    error: { type: 'Declined', message: 'card declined' },
  }),
  entryOf({
    message: 'request completed',
    timestamp: ago(700),
    service: 'shop',
    trace: { trace_id: 't-1', span_id: 'a' },
    request: { method: 'POST', path: '/checkout', status_code: 500, duration_ms: 290 },
  }),
]

describeInBrowser('several services', () => {
  const browser = useBrowser()

  test('views say which part of the filter they do not use', async () => {
    const service = await browser.serve()
    await call(`${service.url}/ingest/requests`, { body: { requests: [requestLog] } })
    const page = await browser.open(service, { path: '/?view=requests&q=level:error+status:200' })
    await page.getByRole('table', { name: 'Routes' }).getByRole('row', { name: /^GET/ }).waitFor()
    const note = page.getByRole('note').filter({ hasText: 'does not use' })
    expect(await note.innerText()).toContain('level:error')
    await goTo(page, '/?view=monitors&q=level:error&last=5m')
    await eventually(() => note.innerText()).toMatch(/level:error.*5 min/)
    await note.getByRole('button').click()
    await eventually(() => parametersOf(page)).toEqual({ view: 'monitors' })
  })

  test('a frame of compiled code shows and opens its original place, in the chosen editor', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-page-maps-')))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [source, file] = [join(folder, 'pay.ts'), join(folder, 'pay.cjs')]
    writeFileSync(
      source,
      'interface Card { id: string }\n\nexport const pay = (card: Card) => { throw Error(card.id) }\n',
    )
    const options = { sourcemap: true, minify: true, format: 'cjs', platform: 'node' } as const
    await build({ entryPoints: [source], outfile: file, ...options })
    const { pay } = createRequire(import.meta.url)(file) as { pay: (card: { id: string }) => never }
    let stack = ''
    try {
      pay({ id: 'declined' })
    } catch (error) {
      stack = (error as Error).stack ?? ''
    }
    const compiled = /\S+pay\.cjs:1:\d+/.exec(stack)?.[0].replace('(', '') ?? ''
    const service = await browser.serve()
    await ingest(service, [entryOf({ message: 'failed', level: 'error', error: { type: 'Error', stack } })])
    const page = await browser.open(service)
    await row(page, 'failed').click()
    const frame = detail(page).getByRole('link', { name: /pay\.ts:3:44/ })
    expect(await frame.getAttribute('href')).toBe(`vscode://file${source}:3:44`)
    expect(await frame.getAttribute('title')).toContain(`compiled ${compiled}`)
    await detail(page).getByRole('button', { name: 'Copy stack' }).click()
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(stack)
    await detail(page)
      .getByRole('button', { name: /^Actions for pay\.ts/ })
      .click()
    await page.getByRole('menuitem', { name: 'Filter by this value' }).click()
    await expectRows(page, ['failed'])
    await page.keyboard.press('?')
    await page.getByRole('combobox', { name: /open in/ }).selectOption('WebStorm')
    await page.keyboard.press('Escape')
    await eventually(() => frame.getAttribute('href')).toBe(`webstorm://open?file=${source}&line=3&column=44`)
  })

  test('new errors are marked in the navigation and the title until they are looked at', async () => {
    const service = await browser.serve()
    await ingest(service, CHECKOUT)
    const page = await browser.open(service)
    await untilLive(page)
    // Newer than the page, by the clock of both.
    const timestamp = new Date(Date.now() + 1000).toISOString()
    await ingest(service, [entryOf({ message: 'broken', level: 'error', timestamp })])
    const link = page.getByRole('link', { name: /^Errors/ })
    await link.getByLabel('1 new error').waitFor()
    expect(await page.title()).toBe('(1) Entries · pino-ingest')
    await link.click()
    await eventually(() => page.title()).toBe('Errors · pino-ingest')
  })

  test('feedback is marked on its entry, its error, its trace and its span, which is open because of the error', async () => {
    const service = await browser.serve()
    await ingest(service, CHECKOUT)
    const page = await browser.open(service)
    await untilLive(page)
    expect(await page.getByTitle('A user commented').count()).toBe(0)
    const { id } = service.entries({ level: ['error'] }).items[0] as { id: string }
    await call(`${service.url}/feedback`, { body: { event_id: id, comments: 'it broke' } })
    await row(page, 'card declined').getByTitle('A user commented').waitFor()
    for (const view of ['errors', 'traces']) {
      await goTo(page, `/?view=${view}`)
      await page.getByText('1 entry with a comment').waitFor()
    }
    await page.getByRole('link', { name: 'POST /checkout' }).first().click()
    await page.getByRole('button', { name: /1 entry with a comment/ }).waitFor()
    await page.getByRole('link', { name: /card declined.*1 entry with a comment/ }).waitFor()
    expect(await page.getByText('request errored').filter({ visible: true }).count()).toBe(0)
  })
})
