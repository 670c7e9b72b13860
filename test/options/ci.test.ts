/** The recorded environments of each CI provider. No environment is mistaken for another provider. */
import { describe, expect, test } from 'vitest'
import { findCiDeploy, findCiFacts } from '../../src/options/ci.js'
import { recordedCis, without } from '../recorded-ci.js'
import { resolve } from './resolve.js'

describe.each(recordedCis())('$name', ({ env, marker, release }) => {
  const { commit_hash, branch, deployed_by } = release
  const deploy =
    commit_hash === undefined
      ? undefined
      : {
          commit: commit_hash,
          ...(branch !== undefined && { branch }),
          ...(deployed_by !== undefined && { deployed_by }),
        }

  test('commit, branch and deployer', () => {
    expect(findCiDeploy(env)).toEqual(deploy)
    expect(resolve({ enabled: false }, env).deploy).toEqual(deploy)
  })

  test('the tag, if there is one', () => {
    expect(findCiFacts(env).tag).toBe(/^v\d/.test(release.version) ? release.version : undefined)
  })

  test('without its marker a provider is recognized only by variables with its name', () => {
    const facts = findCiFacts(without(env, marker))
    expect([undefined, commit_hash]).toContain(facts.commit)
    const isGeneric = ['JENKINS_URL', 'NETLIFY', 'TF_BUILD'].some((name) => marker.includes(name))
    if (isGeneric || commit_hash === undefined) expect(facts).toEqual({})
    else if (!marker.includes('DYNO')) expect(facts).toMatchObject({ commit: commit_hash })
  })
})

const GENERIC = 'HEAD BRANCH COMMIT_REF GIT_COMMIT GIT_BRANCH SOURCE_VERSION BUILD_SOURCEVERSION TAG_NAME BRANCH_NAME'

test.each(GENERIC.split(' '))('%s has no effect alone or with another provider', (name) => {
  const value = 'main'
  expect(findCiFacts({ [name]: value })).toEqual({})
  const github = { GITHUB_ACTIONS: 'true', GITHUB_SHA: 'sha', GITHUB_REF: 'refs/heads/topic' }
  expect(findCiFacts({ ...github, [name]: value })).toEqual({ commit: 'sha', branch: 'topic' })
})

test.each([
  [
    'a provider within another: the one with a commit wins',
    { GITHUB_ACTIONS: 'true', VERCEL: '1', VERCEL_GIT_COMMIT_SHA: 'v' },
    { commit: 'v' },
  ],
  [
    'both have a commit: the CI wins over the host',
    { GITHUB_ACTIONS: 'true', GITHUB_SHA: 'g', VERCEL: '1', VERCEL_GIT_COMMIT_SHA: 'v' },
    { commit: 'g' },
  ],
  [
    'an image with a built-in commit, on a host with its own',
    { GITHUB_SHA: 'g', RENDER: 'true', RENDER_GIT_COMMIT: 'r' },
    { commit: 'r' },
  ],
  ['an image with a built-in commit', { GITHUB_SHA: 'g', GITHUB_REF_NAME: 'main' }, { commit: 'g', branch: 'main' }],
  ['a marker that is false', { NETLIFY: 'false', COMMIT_REF: 'c' }, {}],
  ['empty values', { GITHUB_ACTIONS: 'true', GITHUB_SHA: '', GITHUB_REF: ' ' }, {}],
  ['a detached head', { JENKINS_URL: 'u', GIT_COMMIT: 'c', GIT_BRANCH: 'detached' }, { commit: 'c' }],
  ['nothing', {}, {}],
])('%s', (_, env, facts) => {
  expect(findCiFacts(env)).toEqual(facts)
})

test('PINO_INGEST_* variables and code win', () => {
  const env = {
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: 'ci',
    PINO_INGEST_DEPLOY_COMMIT: 'own',
    PINO_INGEST_DEPLOY_DEPLOYED_BY: 'me',
  }
  expect(resolve({}, env).deploy).toEqual({ commit: 'own', deployed_by: 'me' })
  expect(resolve({ deploy: { commit: 'code' } }, env).deploy).toEqual({ commit: 'code', deployed_by: 'me' })
})
