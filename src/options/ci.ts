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

type Read = (env: Env) => string | undefined

interface Provider {
  /** Variables that only this provider sets. Its other variables count only if one of these is set. */
  readonly markers: readonly string[]
  /** Its variables contain its name and count without a marker: an image may be built with the commit only. */
  readonly isNamed: boolean
  readonly commit: Read
  /** Only the first variable that is set counts, even if it contains no branch. */
  readonly branch: Read
  readonly tag: Read
  readonly deployedBy: Read
}

const NOTHING: Read = () => undefined

const PROVIDERS: readonly Provider[] = [
  {
    // https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    markers: ['GITHUB_ACTIONS'],
    isNamed: true,
    commit: first('GITHUB_SHA'),
    branch: first('GITHUB_HEAD_REF', 'GITHUB_REF', 'GITHUB_REF_NAME'),
    tag: (env) => (env['GITHUB_REF_TYPE'] === 'tag' ? env['GITHUB_REF_NAME'] : undefined),
    deployedBy: first('GITHUB_TRIGGERING_ACTOR', 'GITHUB_ACTOR'), // a rerun names its actor in the first
  },
  {
    // https://docs.gitlab.com/ci/variables/predefined_variables/
    markers: ['GITLAB_CI'],
    isNamed: true,
    commit: first('CI_COMMIT_SHA'),
    // In a pipeline for a tag the last one is the tag's name.
    branch: first(
      'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME',
      'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME',
      'CI_COMMIT_BRANCH',
      'CI_COMMIT_REF_NAME',
    ),
    tag: first('CI_COMMIT_TAG'),
    deployedBy: first('GITLAB_USER_LOGIN'),
  },
  {
    // https://circleci.com/docs/reference/variables/
    markers: ['CIRCLECI'],
    isNamed: true,
    commit: first('CIRCLE_SHA1'),
    branch: first('CIRCLE_BRANCH'),
    tag: first('CIRCLE_TAG'),
    deployedBy: first('CIRCLE_USERNAME'),
  },
  {
    // https://buildkite.com/docs/pipelines/configure/environment-variables
    markers: ['BUILDKITE'],
    isNamed: true,
    commit: first('BUILDKITE_COMMIT'),
    branch: first('BUILDKITE_BRANCH'),
    tag: first('BUILDKITE_TAG'),
    deployedBy: first('BUILDKITE_BUILD_CREATOR'),
  },
  {
    // https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/
    markers: ['BITBUCKET_BUILD_NUMBER'],
    isNamed: true,
    commit: first('BITBUCKET_COMMIT'),
    branch: first('BITBUCKET_BRANCH'),
    tag: first('BITBUCKET_TAG'),
    deployedBy: first('BITBUCKET_STEP_TRIGGERER_UUID'),
  },
  {
    // https://learn.microsoft.com/en-us/azure/devops/pipelines/build/variables
    markers: ['TF_BUILD'],
    isNamed: false,
    commit: first('BUILD_SOURCEVERSION'),
    // BUILD_SOURCEBRANCHNAME last: it shortens `refs/heads/feature/x` to `x`.
    branch: first('SYSTEM_PULLREQUEST_SOURCEBRANCH', 'BUILD_SOURCEBRANCH', 'BUILD_SOURCEBRANCHNAME'),
    tag: NOTHING, // `refs/tags/…` in the branch
    deployedBy: first('BUILD_REQUESTEDFOR'),
  },
  {
    // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables, and its plugins git, branch-api, build-user-vars
    markers: ['JENKINS_URL', 'JENKINS_HOME'],
    isNamed: false,
    commit: first('GIT_COMMIT'),
    branch: (env) =>
      first(
        'CHANGE_BRANCH',
        'BRANCH_NAME',
        'GIT_LOCAL_BRANCH',
        'GIT_BRANCH',
      )(env)
        ?.replace(/^origin\//, '')
        .replace(/^detached$/, ''),
    tag: first('TAG_NAME'),
    deployedBy: first('BUILD_USER_ID', 'BUILD_USER'),
  },
  {
    // https://vercel.com/docs/environment-variables/system-environment-variables
    markers: ['VERCEL'],
    isNamed: true,
    commit: first('VERCEL_GIT_COMMIT_SHA'),
    branch: first('VERCEL_GIT_COMMIT_REF'),
    tag: NOTHING,
    deployedBy: first('VERCEL_GIT_COMMIT_AUTHOR_LOGIN', 'VERCEL_GIT_COMMIT_AUTHOR_NAME'),
  },
  {
    // https://render.com/docs/environment-variables
    markers: ['RENDER'],
    isNamed: true,
    commit: first('RENDER_GIT_COMMIT'),
    branch: first('RENDER_GIT_BRANCH'),
    tag: NOTHING,
    deployedBy: NOTHING,
  },
  {
    // https://docs.railway.com/variables/reference
    markers: ['RAILWAY_ENVIRONMENT_NAME', 'RAILWAY_ENVIRONMENT_ID', 'RAILWAY_ENVIRONMENT', 'RAILWAY_PROJECT_ID'],
    isNamed: true,
    commit: first('RAILWAY_GIT_COMMIT_SHA'),
    branch: first('RAILWAY_GIT_BRANCH'),
    tag: NOTHING,
    deployedBy: first('RAILWAY_GIT_AUTHOR'),
  },
  {
    // https://devcenter.heroku.com/articles/dyno-metadata, .../heroku-ci, .../buildpack-api. HEROKU_SLUG_COMMIT is deprecated, and may be stale.
    markers: [
      'DYNO',
      'HEROKU_APP_ID',
      'HEROKU_APP_NAME',
      'HEROKU_BUILD_COMMIT',
      'HEROKU_SLUG_COMMIT',
      'HEROKU_TEST_RUN_ID',
    ],
    isNamed: false,
    commit: first('HEROKU_BUILD_COMMIT', 'HEROKU_SLUG_COMMIT', 'HEROKU_TEST_RUN_COMMIT_VERSION', 'SOURCE_VERSION'),
    branch: first('HEROKU_TEST_RUN_BRANCH'),
    tag: first('HEROKU_RELEASE_VERSION'),
    deployedBy: NOTHING,
  },
  {
    // https://docs.netlify.com/build/configure-builds/environment-variables/. BRANCH is `pull/7/head` in a preview.
    markers: ['NETLIFY'],
    isNamed: false,
    commit: first('COMMIT_REF'),
    branch: first('HEAD', 'BRANCH'),
    tag: NOTHING,
    deployedBy: NOTHING,
  },
]

/** The facts of the first provider that names a commit, else of the first that is present. Empty if there is none. */
export function findCiFacts(env: Env): CiFacts {
  const present = PROVIDERS.filter(({ markers }) =>
    markers.some((name) => !['', 'false', '0'].includes(env[name]?.trim().toLowerCase() ?? '')),
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

function factsOf(provider: Provider, env: Env): CiFacts {
  const ref = refOf(provider.branch(env))
  const tag = given(provider.tag(env)) ?? ref.tag
  const facts = {
    commit: commitOf(provider.commit(env)),
    // In builds of a tag many providers use the tag's name as the branch.
    branch: ref.branch === tag ? undefined : ref.branch,
    tag,
    deployed_by: given(provider.deployedBy(env)),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

/** A build that was started manually may have `HEAD` as its commit. */
function commitOf(text: string | undefined): string | undefined {
  return text === 'HEAD' ? undefined : given(text)
}

function refOf(text: string | undefined): { readonly branch?: string; readonly tag?: string } {
  const ref = given(text)
  if (ref === undefined || ref === 'HEAD') return {}
  const [, kind, name = ''] = /^refs\/(heads|tags|remotes\/[^/]+)\/(.+)$/.exec(ref) ?? []
  if (kind === undefined) return ref.startsWith('refs/') ? {} : { branch: ref } // `refs/pull/7/merge` is not a branch
  return kind === 'tags' ? { tag: name } : { branch: name }
}

function first(...names: readonly string[]): Read {
  return (env) => names.map((name) => given(env[name])).find((value) => value !== undefined)
}

function given(text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  return trimmed === '' ? undefined : trimmed
}
