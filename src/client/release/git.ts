/** Reads commit, branch and author from the git clone around a folder, by running `git`. */
import { execFile } from 'node:child_process'
import { readProcessEnv } from '../../options/process-env.js'

export interface GitFacts {
  readonly commit?: string
  /** Undefined if HEAD is detached. */
  readonly branch?: string
  /** Name of the person who moved HEAD last in this clone, from the reflog. */
  readonly deployed_by?: string
}

/** The commands read a few local files; a network file system may hang. */
const TIMEOUT_MS = 2_000
/** SHA-1 or SHA-256. */
const OBJECT_ID = /^(?:[\da-f]{40}|[\da-f]{64})$/

/** Returns nothing outside a clone, before the first commit, and without `git`. Never rejects. */
export async function readGit(folder: string): Promise<GitFacts> {
  const [commit = '', ref = ''] = await git(folder, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD')
  if (!OBJECT_ID.test(commit)) return {}
  const [person = ''] = await git(folder, 'log', '--walk-reflogs', '-1', '--no-show-signature', '--format=%gn')
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1]
  return { commit, ...(branch !== undefined && { branch }), ...(person !== '' && { deployed_by: person }) }
}

/**
 * @returns the lines of its output; none if git is not installed, refuses the folder (safe.directory), fails or takes
 * too long
 */
async function git(folder: string, ...args: readonly string[]): Promise<readonly string[]> {
  // git sets these variables in its hooks, where they would override the folder.
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_COMMON_DIR: _common, ...env } = readProcessEnv()
  return new Promise((resolve) => {
    const onEnd = (error: unknown, stdout: string): void => {
      clearTimeout(timer)
      resolve(error ? [] : stdout.split('\n').map((line) => line.trim()))
    }
    // `-C`, not `cwd`: Windows would run a program named git in that folder.
    const child = execFile('git', ['-C', folder, ...args], { env, windowsHide: true }, onEnd)
    // Not awaited, because a process that waits for a disk does not end when it is killed.
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      child.unref()
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve([])
    }, TIMEOUT_MS)
  })
}
