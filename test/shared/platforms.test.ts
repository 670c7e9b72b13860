/** What depends on the platform, with the platform as a parameter. */
import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { toStartFailure } from '../../src/cli/shared/child-process.js'
import { findStatePath } from '../../src/cli/shared/state-path.js'
import { isInUse } from '../../src/shared/safe-files.js'

describe('the folder for state', () => {
  test.each([
    [
      'win32',
      { LOCALAPPDATA: 'C:\\Users\\jane\\AppData\\Local' },
      'C:\\Users\\jane\\AppData\\Local\\pino-ingest\\send',
    ],
    ['win32', { XDG_STATE_HOME: '/state' }, undefined],
    ['win32', { LOCALAPPDATA: 'relative' }, undefined],
    ['darwin', { XDG_STATE_HOME: '/state' }, '/state/pino-ingest/send'],
    ['linux', { XDG_STATE_HOME: '/state' }, '/state/pino-ingest/send'],
    ['linux', { XDG_STATE_HOME: 'relative' }, undefined],
  ] as const)('on %s with %j', (platform, env, expected) => {
    const separator = platform === 'win32' ? '\\' : '/'
    const below = ['.local', 'state', 'pino-ingest', 'send'].join(separator)
    const found = findStatePath(env, 'send', platform)
    if (expected !== undefined) expect(found).toBe(expected)
    else expect(found.replaceAll('\\', '/')).toBe(`${homedir()}/${below}`.replaceAll('\\', '/'))
  })
})

test.each(['EPERM', 'EACCES', 'EBUSY'])(
  '%s of a rename means an open file on Windows, and an error elsewhere',
  (code) => {
    const error = Object.assign(new Error(code), { code })
    expect(isInUse(error, 'win32')).toBe(true)
    expect(isInUse(Object.assign(new Error('disk'), { code: 'EIO' }), 'win32')).toBe(false)
    for (const platform of ['linux', 'darwin', undefined] as const) expect(isInUse(error, platform)).toBe(false)
  },
)

describe('a program that cannot be started', () => {
  test.each(['ENOENT', 'EINVAL'])('on Windows (%s): how to start a script', (code) => {
    const { exitCode, startFailure } = toStartFailure('npm', { code }, 'win32')
    expect(exitCode).toBe(127)
    expect(startFailure).toContain('cmd /c npm')
  })

  test('elsewhere: not found, or not executable', () => {
    for (const platform of ['linux', 'darwin'] as const) {
      expect(toStartFailure('npm', { code: 'ENOENT' }, platform)).toMatchObject({ exitCode: 127 })
      expect(toStartFailure('npm', { code: 'EACCES' }, platform)).toMatchObject({ exitCode: 126 })
      expect(toStartFailure('npm', { code: 'ENOENT' }, platform).startFailure).not.toContain('cmd')
    }
  })
})
