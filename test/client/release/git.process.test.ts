/** Commit, branch and author of a clone in every state of a repository. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readGit } from '../../../src/client/release/git.js'
import { PERSON, clone, commit, git, scratch, write } from './clones.js'

afterEach(() => void vi.unstubAllEnvs())

describe('a clone', () => {
  test('on a branch, and from a folder below', async () => {
    const folder = clone()
    write(folder, 'packages/web/index.js', '')
    const facts = { commit: git(folder, 'rev-parse', 'HEAD'), branch: 'topic/cart', deployed_by: PERSON }
    expect(await readGit(folder)).toEqual(facts)
    expect(await readGit(join(folder, 'packages', 'web'))).toEqual(facts)
  })

  test('a detached head has no branch', async () => {
    const folder = clone()
    const first = git(folder, 'rev-parse', 'HEAD')
    commit(folder)
    git(folder, 'checkout', '--quiet', '--detach', first)
    expect(await readGit(folder)).toEqual({ commit: first, deployed_by: PERSON })
  })

  test('a worktree has its own head', async () => {
    const folder = clone()
    const tree = join(scratch(), 'tree')
    git(folder, 'worktree', 'add', '--quiet', '-b', 'other', tree)
    commit(folder)
    const facts = { commit: git(tree, 'rev-parse', 'HEAD'), branch: 'other', deployed_by: PERSON }
    expect(await readGit(tree)).toEqual(facts)
  })

  test('without a reflog: no author', async () => {
    const folder = clone()
    rmSync(join(folder, '.git', 'logs'), { recursive: true })
    expect(Object.keys(await readGit(folder))).toEqual(['commit', 'branch'])
  })

  test('in a hook of another repository, with the variables that git sets there', async () => {
    const folder = clone()
    vi.stubEnv('GIT_DIR', join(clone(), '.git'))
    expect((await readGit(folder)).commit).toBe(git(folder, 'rev-parse', 'HEAD'))
  })
})

test('nothing: before the first commit, outside a clone, without git, and in a damaged clone', async () => {
  const [empty, damaged] = [scratch(), clone()]
  git(empty, 'init', '--quiet')
  write(damaged, '.git/HEAD', '\0\0')
  for (const folder of [empty, damaged, scratch(), join(scratch(), 'not', 'there')])
    expect(await readGit(folder)).toEqual({})
  const folder = clone()
  vi.stubEnv('PATH', scratch())
  expect(await readGit(folder)).toEqual({})
})
