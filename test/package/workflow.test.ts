/** The workflow of GitHub runs what .ci/run runs, on the Node versions of package.json, with the least permissions. */
import { expect, test } from 'vitest'
import { readText } from '../markdown.js'

const workflow = readText('.github/workflows/ci.yml')
const { engines, scripts } = JSON.parse(readText('package.json')) as {
  readonly engines: { readonly node: string }
  readonly scripts: Readonly<Record<string, string>>
}

test('it runs .ci/run on each major version that engines names, and on none that it excludes', () => {
  expect(workflow).toContain('run: .ci/run')
  const versions = /node: \[(.*)\]/.exec(workflow)?.[1]?.split(', ').map(Number) ?? []
  const named = [...engines.node.matchAll(/>=(\d+)/g)].map(([, major]) => Number(major))
  expect(versions).toEqual(expect.arrayContaining(named))
  const excluded = [...engines.node.matchAll(/<(\d+)/g)].map(([, major]) => Number(major))
  expect(versions.filter((version) => version < Math.min(...named) || excluded.includes(version))).toEqual([])
})

test.each(['.github/workflows/ci.yml', '.ci/run', '.github/CONTRIBUTING.md'])(
  'the scripts that %s runs exist',
  (file) => {
    const used = [...readText(file).matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name]) => name as string)
    expect(used.length).toBeGreaterThan(0)
    expect(used.filter((name) => scripts[name] === undefined)).toEqual([])
  },
)

test('actions are pinned by commit, and may only read', () => {
  const actions = [...workflow.matchAll(/uses: (.*)/g)].map(([, action]) => action as string)
  expect(actions.filter((action) => !/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  expect(workflow.match(/^ *permissions:[^]*?(?=\n\S|\n\n)/gm)).toEqual(['permissions:\n  contents: read'])
})
