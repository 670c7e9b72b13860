/** Finds Chromium, and starts it without background network requests. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

/** Names in order of preference. The first is Chromium without windows: it renders the same pages in 3/4 of the time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin']
const MACOS = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

/** Instructions if there is no browser. */
const HOW_TO_GET_CHROMIUM =
  'The tests of the page need Chromium: `apt-get install chromium-headless-shell` (Debian; `chromium` will do, too), or set CHROMIUM_PATH to one.'

/** Whether a browser is required, as in CI. */
export const NEEDS_CHROMIUM = process.env['PINO_INGEST_NEEDS_CHROMIUM'] === '1'

/** Finds the browser. An invalid CHROMIUM_PATH is not replaced by another browser; the start then fails. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH: given = '', PATH = '' } = process.env
  if (given !== '') return existsSync(given) ? given : undefined
  const folders = [...FOLDERS, ...PATH.split(delimiter).filter((folder) => folder !== '')]
  return [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...MACOS].find((path) =>
    existsSync(path),
  )
}

/** @throws Error with instructions if there is no browser */
export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(HOW_TO_GET_CHROMIUM)
  return chromium.launch({
    executablePath,
    headless: true,
    // Works as root and without a graphics card, and sends requests only to the page's service.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
