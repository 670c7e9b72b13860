/** Reads facts about a deployment from the variables of CI and hosting providers. */
import type { EntryDeploy } from '../protocol/log-entry.js'

export type Env = Readonly<Record<string, string | undefined>>

export interface CiFacts {
  readonly commit?: string
  /** Without `refs/heads/`; for a pull request its source branch. Undefined in a build of a tag. */
  readonly branch?: string
  readonly tag?: string
  /** Who or what triggered the build. */
  readonly deployed_by?: string
}

/** Names of variables, the first that is set counts. */
interface Provider {
  /** Variables that only this provider sets. Its other variables count only if one of these is set. */
  readonly markers: string
  /** Its variables contain its name and count without a marker: an image may be built with the commit only. */
  readonly isNamed?: true
  readonly commit: string
  readonly branch: string
  /** Not needed if the branch is `refs/tags/…` in a build of a tag. */
  readonly tag?: string
  readonly deployedBy?: string
}

const PROVIDERS: readonly Provider[] = [
  {
    // https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    markers: 'GITHUB_ACTIONS',
    isNamed: true,
    commit: 'GITHUB_SHA',
    branch: 'GITHUB_HEAD_REF GITHUB_REF GITHUB_REF_NAME',
    deployedBy: 'GITHUB_TRIGGERING_ACTOR GITHUB_ACTOR', // a rerun names its actor in the first
  },
  {
    // https://docs.gitlab.com/ci/variables/predefined_variables/. In a pipeline for a tag the last branch is the tag's name.
    markers: 'GITLAB_CI',
    isNamed: true,
    commit: 'CI_COMMIT_SHA',
    branch:
      'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH CI_COMMIT_REF_NAME',
    tag: 'CI_COMMIT_TAG',
    deployedBy: 'GITLAB_USER_LOGIN',
  },
  {
    // https://circleci.com/docs/reference/variables/
    markers: 'CIRCLECI',
    isNamed: true,
    commit: 'CIRCLE_SHA1',
    branch: 'CIRCLE_BRANCH',
    tag: 'CIRCLE_TAG',
    deployedBy: 'CIRCLE_USERNAME',
  },
  {
    // https://buildkite.com/docs/pipelines/configure/environment-variables
    markers: 'BUILDKITE',
    isNamed: true,
    commit: 'BUILDKITE_COMMIT',
    branch: 'BUILDKITE_BRANCH',
    tag: 'BUILDKITE_TAG',
    deployedBy: 'BUILDKITE_BUILD_CREATOR',
  },
  {
    // https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/
    markers: 'BITBUCKET_BUILD_NUMBER',
    isNamed: true,
    commit: 'BITBUCKET_COMMIT',
    branch: 'BITBUCKET_BRANCH',
    tag: 'BITBUCKET_TAG',
    deployedBy: 'BITBUCKET_STEP_TRIGGERER_UUID',
  },
  {
    // https://learn.microsoft.com/en-us/azure/devops/pipelines/build/variables. BUILD_SOURCEBRANCHNAME shortens `refs/heads/feature/x` to `x`.
    markers: 'TF_BUILD',
    commit: 'BUILD_SOURCEVERSION',
    branch: 'SYSTEM_PULLREQUEST_SOURCEBRANCH BUILD_SOURCEBRANCH BUILD_SOURCEBRANCHNAME',
    deployedBy: 'BUILD_REQUESTEDFOR',
  },
  {
    // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables, and its plugins git, branch-api, build-user-vars
    markers: 'JENKINS_URL JENKINS_HOME',
    commit: 'GIT_COMMIT',
    branch: 'CHANGE_BRANCH BRANCH_NAME GIT_LOCAL_BRANCH GIT_BRANCH',
    tag: 'TAG_NAME',
    deployedBy: 'BUILD_USER_ID BUILD_USER',
  },
  {
    // https://vercel.com/docs/environment-variables/system-environment-variables
    markers: 'VERCEL',
    isNamed: true,
    commit: 'VERCEL_GIT_COMMIT_SHA',
    branch: 'VERCEL_GIT_COMMIT_REF',
    deployedBy: 'VERCEL_GIT_COMMIT_AUTHOR_LOGIN VERCEL_GIT_COMMIT_AUTHOR_NAME',
  },
  {
    // https://render.com/docs/environment-variables
    markers: 'RENDER',
    isNamed: true,
    commit: 'RENDER_GIT_COMMIT',
    branch: 'RENDER_GIT_BRANCH',
  },
  {
    // https://docs.railway.com/variables/reference
    markers: 'RAILWAY_ENVIRONMENT_NAME RAILWAY_ENVIRONMENT_ID RAILWAY_ENVIRONMENT RAILWAY_PROJECT_ID',
    isNamed: true,
    commit: 'RAILWAY_GIT_COMMIT_SHA',
    branch: 'RAILWAY_GIT_BRANCH',
    deployedBy: 'RAILWAY_GIT_AUTHOR',
  },
  {
    // https://devcenter.heroku.com/articles/dyno-metadata, .../heroku-ci, .../buildpack-api. HEROKU_SLUG_COMMIT is deprecated, and may be stale.
    markers: 'DYNO HEROKU_APP_ID HEROKU_APP_NAME HEROKU_BUILD_COMMIT HEROKU_SLUG_COMMIT HEROKU_TEST_RUN_ID',
    commit: 'HEROKU_BUILD_COMMIT HEROKU_SLUG_COMMIT HEROKU_TEST_RUN_COMMIT_VERSION SOURCE_VERSION',
    branch: 'HEROKU_TEST_RUN_BRANCH',
    tag: 'HEROKU_RELEASE_VERSION',
  },
  {
    // https://docs.netlify.com/build/configure-builds/environment-variables/. BRANCH is `pull/7/head` in a preview.
    markers: 'NETLIFY',
    commit: 'COMMIT_REF',
    branch: 'HEAD BRANCH',
  },
]

/** The facts of the first provider that names a commit, else of the first that is present. Empty if there is none. */
export function findCiFacts(env: Env): CiFacts {
  const present = PROVIDERS.filter(({ markers }) =>
    markers.split(' ').some((name) => !['', 'false', '0'].includes(env[name]?.trim().toLowerCase() ?? '')),
  )
  const facts = present.map((provider) => factsOf(provider, env))
  const named = PROVIDERS.filter(({ isNamed }) => isNamed).map((provider) => factsOf(provider, env))
  return [...facts, ...named].find(({ commit }) => commit !== undefined) ?? facts[0] ?? {}
}

/** For every entry; undefined if no provider names a commit. */
export function findCiDeploy(env: Env): EntryDeploy | undefined {
  const { commit, branch, deployed_by } = findCiFacts(env)
  return commit === undefined
    ? undefined
    : { commit, ...(branch !== undefined && { branch }), ...(deployed_by !== undefined && { deployed_by }) }
}

function factsOf({ commit, branch, tag, deployedBy }: Provider, env: Env): CiFacts {
  const ref = refOf(findFirst(env, branch))
  const found = findFirst(env, tag) ?? ref.tag
  const facts = {
    commit: findFirst(env, commit),
    // In builds of a tag many providers use the tag's name as the branch.
    branch: ref.branch === found ? undefined : ref.branch,
    tag: found,
    deployed_by: findFirst(env, deployedBy),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

function refOf(ref: string | undefined): { readonly branch?: string; readonly tag?: string } {
  if (ref === undefined) return {}
  const [, kind, name = ''] = /^refs\/(heads|tags|remotes\/[^/]+)\/(.+)$/.exec(ref) ?? []
  if (kind === undefined) return ref.startsWith('refs/') ? {} : { branch: ref.replace(/^origin\//, '') } // `refs/pull/7/merge` is not a branch
  return kind === 'tags' ? { tag: name } : { branch: name }
}

/** Not `HEAD`, as in a build that was started manually, or Jenkins' `detached`. */
function findFirst(env: Env, names = ''): string | undefined {
  const values = names.split(' ').map((name) => env[name]?.trim() ?? '')
  const value = values.find((one) => one !== '')
  return value === 'HEAD' || value === 'detached' ? undefined : value
}
