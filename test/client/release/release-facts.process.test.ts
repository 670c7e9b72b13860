/** The sources of a release, in order: given values, CI, git and package.json. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findRelease } from '../../../src/client/release/release-facts.js'
import { IngestError } from '../../../src/shared/errors.js'
import { recordedCis } from '../../recorded-ci.js'
import { clone, git, scratch, write } from './clones.js'

const SHA = '7fd1a60b01f91b314f59955a4e4d4e80d8edf11d'
const GITHUB = { GITHUB_ACTIONS: 'true', GITHUB_SHA: SHA, GITHUB_REF: 'refs/heads/main', GITHUB_ACTOR: 'octocat' }

test.each(recordedCis())('$name', async ({ env, release }) => {
  expect(await findRelease({}, { env, cwd: scratch() })).toEqual(release)
})

describe('version', () => {
  const env = {
    PINO_INGEST_VERSION: '2',
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: SHA,
    GITHUB_REF: 'refs/tags/v5',
  }

  test("given value, variable, the application's package, package.json, tag, short commit", async () => {
    const cwd = scratch()
    write(cwd, 'package.json', '{"version":"4"}')
    const versionIn = async (given: object, left: Record<string, string>, folder = cwd, appVersion?: string) =>
      (await findRelease(given, { env: left, cwd: folder, appVersion })).version
    const { PINO_INGEST_VERSION: _, ...ci } = env
    expect(await versionIn({ version: '1' }, env, cwd, '3')).toBe('1')
    expect(await versionIn({}, env, cwd, '3')).toBe('2')
    expect(await versionIn({ version: '' }, ci, cwd, '3')).toBe('3')
    expect(await versionIn({}, ci)).toBe('4')
    expect(await versionIn({}, ci, scratch())).toBe('v5')
    expect(await versionIn({}, { ...ci, GITHUB_REF: 'refs/heads/main' }, scratch())).toBe(SHA.slice(0, 7))
    expect(await versionIn({ commit_hash: 'r4711' }, {}, scratch())).toBe('r4711')
  })

  test('the nearest package.json that has one, and none outside the clone', async () => {
    const outside = scratch()
    write(outside, 'package.json', '{"version":"9.9.9"}')
    write(outside, 'clone/packages/web/package.json', '{"private":true}')
    git(outside, 'init', '--quiet', 'clone')
    const web = join(outside, 'clone', 'packages', 'web')
    await expect(findRelease({}, { env: {}, cwd: web })).rejects.toMatchObject({ code: 'CONFIG' })
    write(outside, 'clone/package.json', '{"version":"1.2.3"}')
    expect((await findRelease({}, { env: {}, cwd: web })).version).toBe('1.2.3')
    write(outside, 'clone/packages/web/package.json', '{"version":"4.5.6"}')
    expect((await findRelease({}, { env: {}, cwd: web })).version).toBe('4.5.6')
    write(outside, 'clone/packages/web/package.json', '{"version":')
    expect((await findRelease({}, { env: {}, cwd: web })).version).toBe('1.2.3')
  })

  test('a placeholder counts only if there is nothing else', async () => {
    const cwd = scratch()
    write(cwd, 'package.json', '{"version":"0.0.0-development"}')
    expect((await findRelease({}, { env: GITHUB, cwd, appVersion: '0.0.0' })).version).toBe(SHA.slice(0, 7))
    expect((await findRelease({}, { env: {}, cwd })).version).toBe('0.0.0-development')
    write(cwd, 'package.json', '{"version":"0.0.01-not-one"}')
    expect((await findRelease({}, { env: GITHUB, cwd })).version).toBe('0.0.01-not-one')
  })

  test('without a version the message says what to do', async () => {
    const failure = await findRelease({}, { env: {}, cwd: scratch() }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(IngestError)
    expect(failure).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('PINO_INGEST_VERSION') })
  })
})

describe('commit, branch and deployer', () => {
  test("the CI's own data win over its clone, which a machine made", async () => {
    expect(await findRelease({}, { env: GITHUB, cwd: clone() })).toEqual({
      version: SHA.slice(0, 7),
      commit_hash: SHA,
      branch: 'main',
      deployed_by: 'octocat',
    })
    expect(await findRelease({}, { env: { RENDER: 'true', RENDER_GIT_COMMIT: SHA }, cwd: clone() })).toEqual({
      version: SHA.slice(0, 7),
      commit_hash: SHA,
    })
  })

  test('uses the commit of the clone if the CI names none', async () => {
    const cwd = clone()
    const env = {
      BUILDKITE: 'true',
      BUILDKITE_COMMIT: 'HEAD',
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_BUILD_CREATOR: 'Joe',
    }
    expect(await findRelease({}, { env, cwd })).toMatchObject({
      commit_hash: git(cwd, 'rev-parse', 'HEAD'),
      branch: 'main',
      deployed_by: 'Joe',
    })
  })

  test('PINO_INGEST_* variables win over both, given values over all', async () => {
    const env = {
      ...GITHUB,
      PINO_INGEST_DEPLOY_COMMIT: 'own',
      PINO_INGEST_DEPLOY_BRANCH: 'mine',
      PINO_INGEST_DEPLOY_DEPLOYED_BY: 'me',
    }
    expect(await findRelease({}, { env, cwd: scratch() })).toEqual({
      version: 'own',
      commit_hash: 'own',
      branch: 'mine',
      deployed_by: 'me',
    })
    const given = { version: '1', commit_hash: 'a', branch: 'b', deployed_by: 'c', changelog: 'd' }
    expect(await findRelease(given, { env, cwd: scratch() })).toEqual(given)
    const json = { PINO_INGEST_DEPLOY: '{"commit":"own"}', OTEL_RESOURCE_ATTRIBUTES: 'service.version=2' }
    expect(await findRelease({}, { env: json, cwd: scratch() })).toEqual({ version: '2', commit_hash: 'own' })
    await expect(findRelease({}, { env: { PINO_INGEST_DEPLOY: '[]' }, cwd: scratch() })).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('PINO_INGEST_DEPLOY must be an object') as string,
    })
  })

  test('uses a branch only with its own commit, full or short', async () => {
    const cwd = clone()
    expect(await findRelease({ commit_hash: 'another' }, { env: GITHUB, cwd })).not.toHaveProperty('branch')
    expect(await findRelease({ commit_hash: SHA.slice(0, 10) }, { env: GITHUB, cwd })).toMatchObject({ branch: 'main' })
    expect(await findRelease({ commit_hash: git(cwd, 'rev-parse', 'HEAD') }, { env: GITHUB, cwd })).toMatchObject({
      branch: 'topic/cart',
    })
  })
})
