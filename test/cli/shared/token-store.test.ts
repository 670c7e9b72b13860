/** The token of the local service, stored per user and readable only by that user. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findOrCreateToken, findTokenFile, requireToken } from '../../../src/cli/shared/token-store.js'
import { scratch } from '../../client/release/clones.js'
import { runInProcess } from '../run-in-process.js'

const GOOD = 'a-good_token-of-22-char'
const isRoot = process.getuid?.() === 0

function place(text?: string, mode = 0o600): { env: { XDG_STATE_HOME: string }; file: string } {
  const env = { XDG_STATE_HOME: scratch() }
  const file = findTokenFile(env)
  if (text !== undefined) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, text)
    chmodSync(file, mode)
  }
  return { env, file }
}

describe('the file', () => {
  test('is created with mode 0600 in a folder with mode 0700, without other files', () => {
    const { env, file } = place()
    const { token, note } = findOrCreateToken(env)
    expect(token).toMatch(/^[\w-]{22}$/)
    expect(note).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toBe(`${token}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(file))).toEqual(['dev-token'])
    expect(findOrCreateToken(env)).toEqual({ token })
    expect(requireToken(env)).toEqual({ token, from: file })
  })

  test('is in the XDG state folder if that is absolute, otherwise in the home folder', () => {
    expect(findTokenFile({ XDG_STATE_HOME: '/state' })).toBe('/state/pino-ingest/dev-token')
    for (const env of [{}, { XDG_STATE_HOME: '' }, { XDG_STATE_HOME: 'relative' }])
      expect(findTokenFile(env)).toMatch(/^\/.*\/\.local\/state\/pino-ingest\/dev-token$/)
  })

  test.each([
    ['others can read', GOOD, 0o644, 'could be read by others (mode 0644)'],
    ['is empty', '', 0o600, 'held no token'],
    ['has a short token', 'short', 0o600, 'held no token'],
    ['has invalid characters', `${GOOD} ${GOOD}`, 0o600, 'held no token'],
  ])('is replaced and reported if it: %s', (_, text, mode, why) => {
    const { env, file } = place(text, mode)
    const { token, note } = findOrCreateToken(env)
    expect(token).not.toBe(text)
    expect(note).toContain(`${file} ${why}`)
    expect(note).not.toContain(token)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(findOrCreateToken(env)).toEqual({ token })
  })

  test('requireToken() rejects a token that others can read', () => {
    const { env } = place(GOOD, 0o644)
    expect(() => requireToken(env)).toThrow('could be read by others')
    expect(() => requireToken(place().env)).toThrow('is not there')
  })

  test('does not follow a symbolic link: the token is valid for this run', () => {
    const { env, file } = place()
    mkdirSync(dirname(file), { recursive: true })
    const target = join(env.XDG_STATE_HOME, 'elsewhere')
    writeFileSync(target, GOOD, { mode: 0o600 })
    symlinkSync(target, file)
    const { token, note } = findOrCreateToken(env)
    expect(token).toMatch(/^[\w-]{22}$/)
    expect(note).toContain('for this run only')
    expect(readFileSync(target, 'utf8')).toBe(GOOD)
    expect(() => requireToken(env)).toThrow('cannot be read')
  })

  test('a folder in its place, or a read-only home: the token is valid for this run', () => {
    const { env, file } = place()
    mkdirSync(file, { recursive: true })
    expect(findOrCreateToken(env).note).toContain('this run only')
    const home = scratch()
    chmodSync(home, 0o500)
    if (!isRoot) expect(findOrCreateToken({ XDG_STATE_HOME: home }).note).toContain('EACCES')
  })
})

describe('the variable', () => {
  test('overrides the file and creates none', () => {
    const { env, file } = place()
    expect(findOrCreateToken({ ...env, PINO_INGEST_DEV_TOKEN: GOOD })).toEqual({ token: GOOD })
    expect(requireToken({ ...env, PINO_INGEST_DEV_TOKEN: GOOD })).toEqual({
      token: GOOD,
      from: 'PINO_INGEST_DEV_TOKEN',
    })
    expect(() => statSync(file)).toThrow('ENOENT')
    expect(findOrCreateToken({ ...env, PINO_INGEST_DEV_TOKEN: '' }).token).not.toBe('')
  })

  test.each([
    ['short', 's3cret'],
    ['with slashes', 's3cret/s3cret/s3cret'],
  ])('an invalid token (%s): exit 2, and it is not shown', async (_, wrong) => {
    for (const command of [['dev', '--port', '0'], ['tail']]) {
      const { code, out, err } = await runInProcess(command, { PINO_INGEST_DEV_TOKEN: wrong })
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(new RegExp(`PINO_INGEST_DEV_TOKEN must .*not shown, ${wrong.length} characters`))
      expect(err).not.toContain('s3cret')
    }
  })
})
