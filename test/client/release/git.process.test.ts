/** What is read from a clone's files is what git says of it, in every state that a clone may be in. */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { findGitDir, readGitFiles } from '../../../src/client/release/git-files.js'
import { askGit, readGit } from '../../../src/client/release/git.js'
import { PERSON, clone, commit, git, scratch, write } from './clones.js'

/** What both ways come to, which must be the same. */
async function bothWays(folder: string): Promise<unknown> {
  const gitDir = (await findGitDir(folder)) as string
  const facts = await readGitFiles(gitDir)
  expect(await askGit(folder, gitDir)).toEqual(facts)
  expect(await readGit(folder)).toEqual(facts)
  return facts
}

describe('the files say what git says', () => {
  test('on a branch, and in a folder below', async () => {
    const folder = clone()
    write(folder, 'packages/web/index.js', '')
    const facts = { commit: git(folder, 'rev-parse', 'HEAD'), branch: 'topic/cart', deployed_by: PERSON }
    expect(await bothWays(folder)).toEqual(facts)
    expect(await bothWays(join(folder, 'packages', 'web'))).toEqual(facts)
  })

  test('a detached head has no branch', async () => {
    const folder = clone()
    const first = git(folder, 'rev-parse', 'HEAD')
    commit(folder)
    git(folder, 'checkout', '--quiet', '--detach', first)
    expect(await bothWays(folder)).toEqual({ commit: first, deployed_by: PERSON })
  })

  test('packed refs, and one that is newer than its packed self', async () => {
    const folder = clone()
    git(folder, 'branch', 'cart') // ends as the other does
    git(folder, 'tag', '--annotate', '--message=x', 'v1')
    git(folder, 'pack-refs', '--all')
    const packed = git(folder, 'rev-parse', 'HEAD')
    expect(await bothWays(folder)).toMatchObject({ commit: packed, branch: 'topic/cart' })
    const newer = commit(folder)
    expect(newer).not.toBe(packed)
    expect(await bothWays(folder)).toMatchObject({ commit: newer })
  })

  test('a worktree has its own head', async () => {
    const folder = clone()
    const tree = join(scratch(), 'tree')
    git(folder, 'worktree', 'add', '--quiet', '-b', 'other', tree)
    const own = commit(tree)
    git(folder, 'pack-refs', '--all')
    expect(await bothWays(tree)).toEqual({ commit: own, branch: 'other', deployed_by: PERSON })
    expect(await bothWays(folder)).toMatchObject({ branch: 'topic/cart' })
  })

  test('a submodule', async () => {
    const folder = clone()
    git(folder, 'submodule', '--quiet', 'add', clone(), 'below')
    expect(await bothWays(join(folder, 'below'))).toMatchObject({
      commit: git(join(folder, 'below'), 'rev-parse', 'HEAD'),
      branch: 'topic/cart',
    })
  })

  test('a branch that stands for another', async () => {
    const folder = clone()
    git(folder, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/topic/cart')
    const head = git(folder, 'rev-parse', 'HEAD')
    write(folder, '.git/HEAD', 'ref: refs/heads/alias\n')
    expect((await readGitFiles(join(folder, '.git'))).commit).toBe(head)
  })

  test('SHA-256', async () => {
    const folder = scratch()
    git(folder, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256')
    expect(commit(folder)).toHaveLength(64)
    expect(await bothWays(folder)).toMatchObject({ commit: git(folder, 'rev-parse', 'HEAD') })
  })

  test('no reflog: nobody', async () => {
    const folder = clone()
    rmSync(join(folder, '.git', 'logs'), { recursive: true })
    expect(Object.keys((await bothWays(folder)) as object)).toEqual(['commit', 'branch'])
  })

  test('a reflog longer than what is read of it', async () => {
    const folder = clone()
    write(
      folder,
      '.git/logs/HEAD',
      `${'0'.repeat(40)} ${'0'.repeat(40)} Other <o@example.com> 1769846400 +0100\tx\n`.repeat(200) +
        `${'0'.repeat(40)} ${git(folder, 'rev-parse', 'HEAD')} José <j@example.com> 1769846400 +0100\tcommit: x\n`,
    )
    expect(await bothWays(folder)).toMatchObject({ deployed_by: 'José' })
  })

  test('nothing committed yet: nothing', async () => {
    const folder = scratch()
    git(folder, 'init', '--quiet')
    expect(await bothWays(folder)).toEqual({})
  })
})

test('no clone: nothing', async () => {
  expect(await readGit(scratch())).toEqual({})
  expect(await readGit(join(scratch(), 'not', 'there'))).toEqual({})
})

test.each([
  ['a file that leads nowhere', { '.git': 'gitdir: ../gone' }],
  ['a file that is none of git', { '.git': 'hello' }],
  ['a folder that is none of git', { '.git/config': '' }],
  ['a head that is damaged', { '.git/HEAD': '\0\0' }],
  ['a head that leads out of it', { '.git/HEAD': 'ref: refs/../../secret', secret: 'a'.repeat(40) }],
  [
    'refs in a circle',
    {
      '.git/HEAD': 'ref: refs/heads/a',
      '.git/refs/heads/a': 'ref: refs/heads/b',
      '.git/refs/heads/b': 'ref: refs/heads/a',
    },
  ],
  ['packed refs that are damaged', { '.git/HEAD': 'ref: refs/heads/a', '.git/packed-refs': 'xyz refs/heads/a\n' }],
])('%s: nothing', async (_, files) => {
  const folder = scratch()
  for (const [path, text] of Object.entries(files)) write(folder, path, text)
  expect(await readGit(folder)).toEqual({})
})

test('refs in a format that is not read: git is asked, and without it nothing is said', async () => {
  const folder = scratch()
  // As git leaves them beside reftables (gitformat-reftable).
  write(folder, '.git/HEAD', 'ref: refs/heads/.invalid\n')
  const programs = scratch()
  write(
    programs,
    'git',
    `#!/bin/sh\ncase "$*" in *rev-parse*) echo ${'ab'.repeat(20)}; echo refs/heads/main;; *) echo '${PERSON}';; esac\n`,
  )
  chmodSync(join(programs, 'git'), 0o755)
  vi.stubEnv('PATH', `${programs}:/usr/bin:/bin`)
  expect(await readGit(folder)).toEqual({ commit: 'ab'.repeat(20), branch: 'main', deployed_by: PERSON })
  vi.stubEnv('PATH', scratch())
  expect(await readGit(folder)).toEqual({})
  vi.unstubAllEnvs()
})
