/** `--open`: opens the page in the browser. */
import { spawn } from 'node:child_process'
import { closeSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFile, writeAll } from '../../shared/safe-files.js'
import { ensureNamedRoot } from '../../shared/safe-folders.js'
import { findStatePath } from '../shared/state-path.js'

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Passes the browser a file that redirects to the page and that only this user can read: process lists show arguments, and the page's
 * address contains the token.
 */
export function openPage(pageUrl: string, report: (message: string) => void): void {
  const fail = (reason: string): void => report(`no browser can be opened (${reason}); open the printed address`)
  try {
    const file = findStatePath(process.env, 'dev-page.html')
    ensureNamedRoot(dirname(file))
    const html = `<!doctype html><meta http-equiv="refresh" content="0;url=${pageUrl}">\n`
    closeSync(replaceFile(file, (fd) => writeAll(fd, Buffer.from(html))))
    process.once('exit', () => rmSync(file, { force: true }))
    const [name, ...args] = PROGRAMS[process.platform] ?? ['xdg-open']
    const child = spawn(name, [...args, file], { stdio: 'ignore', detached: true })
    child.on('error', ({ message }) => fail(message))
    child.on('exit', (code) => code !== 0 && fail(`${name} exited with ${code}`))
    child.unref()
  } catch (error) {
    fail((error as Error).message)
  }
}
