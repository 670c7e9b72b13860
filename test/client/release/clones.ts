/** Clones made with the real git, in folders that are removed after the test. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const PERSON = 'Jane Doe'

export function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-clone-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** @returns the output */
export function git(folder: string, ...args: readonly string[]): string {
  // The machine's own git settings are ignored; only the author is set.
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: PERSON,
    GIT_AUTHOR_EMAIL: 'jane@example.com',
    GIT_COMMITTER_NAME: PERSON,
    GIT_COMMITTER_EMAIL: 'jane@example.com',
  }
  return execFileSync('git', ['-C', folder, '-c', 'protocol.file.allow=always', ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

/** A clone with one commit on the branch `topic/cart`. */
export function clone(): string {
  const folder = scratch()
  git(folder, 'init', '--quiet', '--initial-branch=topic/cart')
  commit(folder)
  return folder
}

/** @returns the id of the commit */
export function commit(folder: string): string {
  git(folder, 'commit', '--quiet', '--allow-empty', '--message=x')
  return git(folder, 'rev-parse', 'HEAD')
}

export function write(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}
