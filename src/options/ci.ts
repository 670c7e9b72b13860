/** What CI and hosting providers say of a deployment, in their own variables. */
import type { EntryDeploy } from '../protocol/entry.js'

type Variables = readonly [commit: readonly string[], branch: readonly string[], deployedBy: readonly string[]]

/** By each provider's documentation of its predefined variables. */
const PROVIDERS: readonly Variables[] = [
  [['GITHUB_SHA'], ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'], ['GITHUB_ACTOR']],
  [['CI_COMMIT_SHA'], ['CI_COMMIT_REF_NAME'], ['GITLAB_USER_LOGIN']],
  [['CIRCLE_SHA1'], ['CIRCLE_BRANCH'], ['CIRCLE_USERNAME']],
  [['BUILDKITE_COMMIT'], ['BUILDKITE_BRANCH'], ['BUILDKITE_BUILD_CREATOR']],
  [['BITBUCKET_COMMIT'], ['BITBUCKET_BRANCH'], ['BITBUCKET_STEP_TRIGGERER_UUID']],
  [['BUILD_SOURCEVERSION'], ['BUILD_SOURCEBRANCHNAME'], ['BUILD_REQUESTEDFOR']],
  [['VERCEL_GIT_COMMIT_SHA'], ['VERCEL_GIT_COMMIT_REF'], ['VERCEL_GIT_COMMIT_AUTHOR_LOGIN']],
  [['RENDER_GIT_COMMIT'], ['RENDER_GIT_BRANCH'], []],
  [['RAILWAY_GIT_COMMIT_SHA'], ['RAILWAY_GIT_BRANCH'], ['RAILWAY_GIT_AUTHOR']],
  [['HEROKU_SLUG_COMMIT', 'HEROKU_BUILD_COMMIT', 'SOURCE_VERSION'], [], []],
  [['COMMIT_REF'], ['HEAD', 'BRANCH'], []], // Netlify
  [['GIT_COMMIT'], ['GIT_BRANCH', 'BRANCH_NAME'], ['BUILD_USER_ID']], // Jenkins
]

/** The first provider that names a commit; `undefined` where none does. */
export function deployFromCi(env: Readonly<Record<string, string | undefined>>): EntryDeploy | undefined {
  const firstOf = (names: readonly string[]): string | undefined =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
  for (const [commits, branches, people] of PROVIDERS) {
    const commit = firstOf(commits)
    if (commit === undefined) continue
    const branch = firstOf(branches)
    const deployedBy = firstOf(people)
    return { commit, ...(branch !== undefined && { branch }), ...(deployedBy !== undefined && { deployed_by: deployedBy }) }
  }
  return undefined
}
