/** Finds Chromium and starts it, as a browser that asks nothing of the network by itself. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

/** The first is Chromium without windows: its pages are the same, and it takes a quarter less to show them. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin']
const MACOS = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

/** Shown if there is none. */
export const HOW_TO_GET_CHROMIUM =
  'The tests of the page need Chromium: `apt-get install chromium-headless-shell` (Debian; `chromium` will do, too), or set CHROMIUM_PATH to one.'

/** Set where a browser is required, as in CI. */
export const NEEDS_CHROMIUM = process.env['PINO_INGEST_NEEDS_CHROMIUM'] === '1'

/** A wrong CHROMIUM_PATH is an error, and is not replaced by another browser. */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  const given = env['CHROMIUM_PATH']
  if (given !== undefined && given !== '') return exists(given) ? given : undefined
  const folders = [...FOLDERS, ...(env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')]
  return [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...MACOS].find(exists)
}

/** @throws if there is no browser, with instructions */
export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(HOW_TO_GET_CHROMIUM)
  return chromium.launch({
    executablePath,
    headless: true,
    // As root, without a graphics card, and with no words to anyone but the page's service.
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
