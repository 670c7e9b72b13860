/** The search for a browser, and the instructions if there is none. */
import { expect, test } from 'vitest'
import { findChromium, HOW_TO_GET_CHROMIUM, NEEDS_CHROMIUM } from './chromium.js'

test('finds a browser, or shows how to install one', () => {
  const path = findChromium()
  if (path === undefined && !NEEDS_CHROMIUM)
    process.stderr.write(`${HOW_TO_GET_CHROMIUM} Without it they are skipped.\n`)
  else expect(path, HOW_TO_GET_CHROMIUM).toBeDefined()
})

test('CHROMIUM_PATH has precedence, even if it does not exist', () => {
  const exists = (path: string): boolean => path === '/opt/mine' || path === '/usr/bin/chromium'
  expect(findChromium({ CHROMIUM_PATH: '/opt/mine' }, exists)).toBe('/opt/mine')
  expect(findChromium({ CHROMIUM_PATH: '/opt/other' }, exists)).toBeUndefined()
  expect(findChromium({ CHROMIUM_PATH: '' }, exists)).toBe('/usr/bin/chromium')
})

test('searches the usual folders and the PATH', () => {
  const only =
    (one: string) =>
    (path: string): boolean =>
      path === one
  for (const path of [
    '/usr/bin/chromium',
    '/usr/bin/google-chrome',
    '/snap/bin/chromium',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ]) {
    expect(findChromium({}, only(path))).toBe(path)
  }
  expect(findChromium({ PATH: '/own/bin' }, only('/own/bin/chromium-browser'))).toBe('/own/bin/chromium-browser')
  expect(findChromium({ PATH: '' }, () => false)).toBeUndefined()
})
