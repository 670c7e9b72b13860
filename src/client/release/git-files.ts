/**
 * What a clone says of itself, read from its files: a container may hold the clone and no `git`.
 * @see https://git-scm.com/docs/gitrepository-layout
 */
import { open, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

export interface GitFacts {
  readonly commit?: string
  /** None where HEAD is detached. */
  readonly branch?: string
  /** Who moved HEAD last in this clone, by the reflog. */
  readonly deployed_by?: string
}

/** SHA-1 or SHA-256. */
export const OBJECT_ID = /^(?:[\da-f]{40}|[\da-f]{64})$/
const MAX_SYMBOLIC_REFS = 5
/** Of the reflog: its last line is shorter. */
const TAIL_BYTES = 4_096

/** The git directory of the clone around a folder: in the main one `.git`, of worktrees and submodules where the file `.git` says. */
export async function findGitDir(from: string): Promise<string | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const at = join(folder, '.git')
    const found = await stat(at).catch(() => undefined)
    if (found?.isDirectory() === true) return at
    const path = found?.isFile() === true ? /^gitdir: (.+)$/m.exec(await text(at))?.[1] : undefined
    if (path !== undefined) return resolve(folder, path.trim())
    if (folder === dirname(folder)) return undefined
  }
}

/** Without a commit where the files name none: there is none yet, or refs are kept in another format. */
export async function readGitFiles(gitDir: string): Promise<GitFacts> {
  // A worktree has its own HEAD and shares all branches.
  const commonDir = resolve(gitDir, (await text(join(gitDir, 'commondir'))).trim())
  const head = await readRef(join(gitDir, 'HEAD'))
  const commit = OBJECT_ID.test(head) ? head : await commitOf(nameIn(head), gitDir, commonDir)
  if (commit === undefined) return {}
  const branch = /^refs\/heads\/(.+)$/.exec(nameIn(head) ?? '')?.[1]
  const person = /^[\da-f]+ [\da-f]+ (.*?) <[^>]*> \d+ [+-]\d{4}/.exec(
    lastLine(await tail(join(gitDir, 'logs', 'HEAD'))),
  )?.[1]
  return {
    commit,
    ...(branch !== undefined && { branch }),
    ...(person !== undefined && person !== '' && { deployed_by: person }),
  }
}

async function commitOf(ref: string | undefined, gitDir: string, commonDir: string): Promise<string | undefined> {
  let name = ref
  for (let step = 0; name !== undefined && step < MAX_SYMBOLIC_REFS; step += 1) {
    const value = (await readRef(join(commonDir, name))) || (await readRef(join(gitDir, name)))
    if (OBJECT_ID.test(value)) return value
    if (value === '') return packedCommit(await text(join(commonDir, 'packed-refs')), name)
    name = nameIn(value)
  }
  return undefined
}

function packedCommit(packed: string, name: string): string | undefined {
  const line = packed.split('\n').find((one) => one.endsWith(` ${name}`))
  const id = line?.slice(0, line.indexOf(' ')) ?? ''
  return OBJECT_ID.test(id) ? id : undefined
}

/** Of `ref: refs/heads/main`; a name that leads out of the git directory is none. */
function nameIn(head: string): string | undefined {
  const name = /^ref: (refs\/.+)$/.exec(head)?.[1]
  return name === undefined || name.split('/').includes('..') ? undefined : name
}

async function readRef(path: string): Promise<string> {
  return (await text(path)).trim()
}

/** Empty where there is no such file, or none that may be read: then this file says nothing. */
async function text(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

async function tail(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(TAIL_BYTES),
      position: Math.max(0, size - TAIL_BYTES),
    })
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function lastLine(lines: string): string {
  return lines.trimEnd().split('\n').at(-1) ?? ''
}
