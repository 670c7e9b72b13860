import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFolders, ensureNamedRoot, resolveInSafeFolder } from '../../src/shared/safe-folders.js'
import { scratch } from '../client/release/clones.js'
import { hasProc, isWindows } from '../platform.js'

function caught(act: () => unknown): { code?: string; message: string } {
  try {
    act()
  } catch (error) {
    return error as { code?: string; message: string }
  }
  throw new Error('nothing was thrown')
}

describe('folders with their parents', () => {
  test.skipIf(isWindows)('are created with mode 0700 for any umask; existing folders are not changed', () => {
    const base = scratch()
    chmodSync(base, 0o755)
    const path = join(base, 'a', 'b', 'c')
    const before = process.umask(0)
    try {
      expect(createFolders(path)).toEqual([join(base, 'a'), join(base, 'a', 'b'), path])
    } finally {
      process.umask(before)
    }
    for (const folder of [join(base, 'a'), join(base, 'a', 'b'), path])
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(base).mode & 0o777).toBe(0o755)
    expect(createFolders(path)).toEqual([])
  })

  test.skipIf(!hasProc)('fails at once with the path if the system reports ENOENT although the parent exists', () => {
    for (const path of ['/proc/nope', '/proc/nope/a/b']) {
      const { code, message } = caught(() => ensureNamedRoot(path))
      expect(code).toBe('ENOENT')
      expect(message).toContain(path)
    }
  })

  test.skipIf(isWindows)("fails with the system's error below a file or a dangling link", () => {
    const base = scratch()
    writeFileSync(join(base, 'file'), '')
    symlinkSync(join(base, 'nothing'), join(base, 'link'))
    expect(caught(() => createFolders(join(base, 'file', 'a', 'b'))).code).toBe('ENOTDIR')
    expect(caught(() => createFolders(join(base, 'link', 'a'))).code).toBe('ENOENT')
    expect(existsSync(join(base, 'nothing'))).toBe(false)
  })
})

test.skipIf(isWindows)('others may write to the folder of a file only if the sticky bit protects its content', () => {
  const folder = join(scratch(), 'shared')
  mkdirSync(folder)
  for (const [mode, isRefused] of [
    [0o700, false],
    [0o1777, false],
    [0o775, false],
    [0o777, true],
    [0o703, true],
  ] as const) {
    chmodSync(folder, mode)
    const act = (): string => resolveInSafeFolder(join(folder, 'db'))
    if (isRefused)
      expect(caught(act)).toMatchObject({
        code: 'UNSAFE',
        message: expect.stringContaining(`${folder} (mode 0${mode.toString(8)})`),
      })
    else expect(act()).toBe(join(folder, 'db'))
  }
})

test.skipIf(isWindows)(
  'a root that every user may write to gets the sticky bit, so others cannot replace folders in it',
  () => {
    const root = join(scratch(), 'root')
    mkdirSync(root)
    for (const [mode, expected] of [
      [0o777, 0o1777],
      [0o1777, 0o1777],
      [0o755, 0o755],
      [0o700, 0o700],
    ] as const) {
      chmodSync(root, mode)
      ensureNamedRoot(root)
      expect(statSync(root).mode & 0o7777).toBe(expected)
    }
  },
)

test('checks the right folder for a path that ends with . or ..', () => {
  const folder = join(scratch(), 'db')
  for (const end of ['.', 'x/..']) expect(resolveInSafeFolder(`${folder}/${end}`)).toBe(folder)
})
