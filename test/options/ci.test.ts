import { expect, test } from 'vitest'
import { deployFromCi } from '../../src/options/ci.js'
import { resolve } from './resolving.js'

test.each([
  ['GitHub Actions', { GITHUB_SHA: 'c', GITHUB_REF_NAME: 'b', GITHUB_ACTOR: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['GitHub, pull request', { GITHUB_SHA: 'c', GITHUB_HEAD_REF: 'topic', GITHUB_REF_NAME: '7/merge' }, { commit: 'c', branch: 'topic' }],
  ['GitHub, push', { GITHUB_SHA: 'c', GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'main' }, { commit: 'c', branch: 'main' }],
  ['GitLab', { CI_COMMIT_SHA: 'c', CI_COMMIT_REF_NAME: 'b', GITLAB_USER_LOGIN: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['CircleCI', { CIRCLE_SHA1: 'c', CIRCLE_BRANCH: 'b', CIRCLE_USERNAME: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Buildkite', { BUILDKITE_COMMIT: 'c', BUILDKITE_BRANCH: 'b', BUILDKITE_BUILD_CREATOR: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Bitbucket', { BITBUCKET_COMMIT: 'c', BITBUCKET_BRANCH: 'b', BITBUCKET_STEP_TRIGGERER_UUID: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Azure', { BUILD_SOURCEVERSION: 'c', BUILD_SOURCEBRANCHNAME: 'b', BUILD_REQUESTEDFOR: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Vercel', { VERCEL_GIT_COMMIT_SHA: 'c', VERCEL_GIT_COMMIT_REF: 'b', VERCEL_GIT_COMMIT_AUTHOR_LOGIN: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Render', { RENDER_GIT_COMMIT: 'c', RENDER_GIT_BRANCH: 'b' }, { commit: 'c', branch: 'b' }],
  ['Railway', { RAILWAY_GIT_COMMIT_SHA: 'c', RAILWAY_GIT_BRANCH: 'b', RAILWAY_GIT_AUTHOR: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['Heroku', { HEROKU_BUILD_COMMIT: 'c' }, { commit: 'c' }],
  ['Netlify', { COMMIT_REF: 'c', HEAD: 'b' }, { commit: 'c', branch: 'b' }],
  ['Jenkins', { GIT_COMMIT: 'c', GIT_BRANCH: 'b', BUILD_USER_ID: 'p' }, { commit: 'c', branch: 'b', deployed_by: 'p' }],
  ['an empty commit', { GITHUB_SHA: '', GITHUB_REF_NAME: 'b' }, undefined],
  ['nothing', {}, undefined],
])('%s', (_, env, deploy) => {
  expect(deployFromCi(env)).toEqual(deploy)
  expect(resolve({}, env).deploy).toEqual(deploy)
})

test('one\'s own variables and code come first', () => {
  const env = { GITHUB_SHA: 'ci', PINO_INGEST_COMMIT: 'own', PINO_INGEST_DEPLOYED_BY: 'me' }
  expect(resolve({}, env).deploy).toEqual({ commit: 'own', deployed_by: 'me' })
  expect(resolve({ deploy: { commit: 'code' } }, env).deploy).toEqual({ commit: 'code' })
})
