/** The recorded environments of `fixtures/ci`. */
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Release } from '../src/protocol/resources.js'

export interface RecordedCi {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly marker: readonly string[]
  readonly release: Release
}

export function recordedCis(): readonly RecordedCi[] {
  const folder = fileURLToPath(new URL('fixtures/ci/', import.meta.url))
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({
      ...(JSON.parse(readFileSync(folder + file, 'utf8')) as RecordedCi),
      name: file.replace('.json', ''),
    }))
}

export function without(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
}

/** Variables that the machine running the tests may have set. */
export const CI_VARIABLE =
  /^(?:CI$|CI_|GIT|CIRCLE|BUILDKITE|BITBUCKET|TF_BUILD|BUILD_|SYSTEM_|JENKINS|VERCEL|RENDER|RAILWAY|DYNO|HEROKU|NETLIFY)/
