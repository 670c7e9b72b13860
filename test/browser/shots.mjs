/**
 * Takes screenshots of all views, a detail with all fields, the empty states and failed queries, light and dark, wide and narrow, for manual review:
 *
 *     npm run build && node test/browser/shots.mjs FOLDER [NAME…]
 *
 * Names select single screenshots.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const WIDTHS = [1440, 1024, 390]
const SCHEMES = ['light', 'dark']
const VIEWS = ['entries', 'errors', 'traces', 'requests', 'releases', 'monitors', 'feedback', 'rejected']

const [, , folder, ...names] = process.argv
if (folder === undefined || folder.startsWith('-')) {
  process.stderr.write('usage: node test/browser/shots.mjs FOLDER [NAME...]\n')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })

const { addressOf, contextOptions, createIngestService, launchChromium, RICH_TRACE, seed, SetClock } =
  await loadSources()
const clock = new SetClock()
const full = await createIngestService({ clock })
const empty = await createIngestService()
const { richEvent } = await seed(full.url, clock)
const rich = full.entries({ limit: Infinity }).items.find(({ entry }) => entry.metadata?.event_id === richEvent).id
const browser = await launchChromium()
try {
  for (const width of WIDTHS) for (const colorScheme of SCHEMES) await takeAll({ width, colorScheme })
} finally {
  await browser.close()
  await Promise.all([full.close(), empty.close()])
}

async function takeAll(options) {
  const context = await browser.newContext(contextOptions(options))
  const page = await context.newPage()
  const name = (what) => join(folder, `${what}-${options.width}-${options.colorScheme}.png`)
  const isWanted = (what) => names.length === 0 || names.includes(what)
  const take = async (service, path, what, token) => {
    if (!isWanted(what)) return
    await page.goto(addressOf(service, { path, token }))
    await settle(page)
    await page.screenshot({ path: name(what) })
  }
  await take(empty, '/', 'no-token', null)
  for (const view of VIEWS) await take(empty, `/?view=${view}`, `empty-${view}`)
  for (const view of VIEWS) await take(full, `/?view=${view}`, view)
  for (const view of VIEWS) {
    if (!isWanted(`broken-${view}`)) continue
    await page.route(/\/local\/(?!status|stream)/, (route) =>
      route.fulfill({ status: 500, json: { detail: [{ msg: 'the store is damaged', type: 'STORE' }] } }),
    )
    await take(full, `/?view=${view}`, `broken-${view}`)
    await page.unrouteAll()
  }
  await take(full, '/?q=nothing-has-this+level:warn', 'no-match')
  await take(full, '/?q=level:(error,fatal)+service:payments+order', 'filtered')
  await take(full, '/?q=%7C+p95(duration)+by+route', 'chart')
  await take(full, '/?view=requests&open=web-shop+POST+%2Forders', 'route')
  await take(full, `/?view=errors&entry=${rich}`, 'errors-with-detail')
  await take(full, `/?entry=${rich}`, 'detail')
  await take(full, `/?view=traces&trace=${RICH_TRACE}`, 'trace')
  if (isWanted('menu')) {
    await page.goto(addressOf(full, { path: `/?entry=${rich}` }))
    await page.getByRole('button', { name: 'Actions for Path' }).click()
    await settle(page)
    await page.screenshot({ path: name('menu') })
    await page.keyboard.press('Escape')
  }
  if (names.length > 0 && !isWanted('detail-whole')) return void (await context.close())
  await page.goto(addressOf(full, { path: `/?entry=${rich}` }))
  await page.keyboard.press('?')
  await settle(page)
  await page.screenshot({ path: name('help') })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete all records' }).click()
  await page.screenshot({ path: name('clear') })
  await page.keyboard.press('Escape')
  // High enough for the whole detail.
  await page.setViewportSize({ width: options.width, height: 3200 })
  await settle(page)
  await page.screenshot({ path: name('detail-whole') })
  await context.close()
}

/** Waits until replies have arrived and are rendered. */
async function settle(page) {
  await page.locator('#app > *').first().waitFor()
  do await page.waitForTimeout(400)
  while (/Loading …|Connecting/.test(await page.locator('body').innerText()))
}

/** Bundles the TypeScript sources, which the oldest supported Node cannot load. */
async function loadSources() {
  const outfile = fileURLToPath(new URL('../../node_modules/.cache/pino-ingest-shots.mjs', import.meta.url))
  const modules = ['./browser-page.js', './chromium.js', './seed.js', './seed-entries.js', '../../src/service/index.js']
  await build({
    stdin: {
      contents: modules.map((name) => `export * from '${name}'`).join('\n'),
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile,
    logLevel: 'warning',
  })
  return import(pathToFileURL(outfile).href)
}
