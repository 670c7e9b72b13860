/** What the clone around a folder says: its files, and `git` itself where they are in a format that is not read here. */
import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { OBJECT_ID, findGitDir, readGitFiles } from './git-files.js'
import type { GitFacts } from './git-files.js'

/** Local commands that read a few files; a network file system may hang. */
const TIMEOUT_MS = 2_000

const run = promisify(execFile)

/** Empty outside a clone, and where nothing was committed. Never rejects. */
export async function readGit(folder: string): Promise<GitFacts> {
  const gitDir = await findGitDir(folder)
  if (gitDir === undefined) return {}
  const facts = await readGitFiles(gitDir)
  // The reftable format, a repository's default from Git 3 on.
  return facts.commit === undefined ? askGit(dirname(gitDir), gitDir) : facts
}

/** @returns what the program says of the same; empty where there is no such program, or it refuses */
export async function askGit(folder: string, gitDir: string): Promise<GitFacts> {
  const [commit = '', ref = ''] = await git(folder, gitDir, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD')
  if (!OBJECT_ID.test(commit)) return {}
  const [person = ''] = await git(folder, gitDir, 'log', '--walk-reflogs', '-1', '--no-show-signature', '--format=%gn')
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1]
  return { commit, ...(branch !== undefined && { branch }), ...(person !== '' && { deployed_by: person }) }
}

async function git(folder: string, gitDir: string, ...args: readonly string[]): Promise<readonly string[]> {
  try {
    // Not in the folder: Windows would take a program of that name from there.
    const { stdout } = await run('git', ['-C', folder, `--git-dir=${gitDir}`, ...args], {
      timeout: TIMEOUT_MS,
      windowsHide: true,
    })
    return stdout.split('\n').map((line) => line.trim())
  } catch {
    return [] // not installed, another's clone (safe.directory), no commit, or the time was up: then git says nothing
  }
}
