/** Whatever the project's Markdown points to is there. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsOf, prose, root } from '../markdown.js'

const files = ['src', 'docs', 'test', 'benchmarks', '.github', '.'].flatMap((folder) =>
  (readdirSync(join(root, folder), { recursive: folder !== '.' }) as string[])
    .map((name) => join(folder, name))
    .filter((name) => /(?<!node_modules.*)\.(?:tsx?|mjs|md|yml|json)$/.test(name)),
)
const documents = files.filter((name) => name.endsWith('.md') && !name.startsWith('.github'))

test.each(documents)('links of %s lead to files and headings', (document) => {
  const links = [...prose(document).matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)"\s]+)/g)].map((match) => match[1] as string)
  const broken = links
    .filter((link) => !/^(?:https?|mailto):/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : join(dirname(document), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !(target.endsWith('.md') && anchorsOf(target).includes(anchor))
    })
  expect(broken).toEqual([])
})

test.each(documents)('files that %s names exist', (document) => {
  const named = [...prose(document).matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|mjs|md|json))`/g)].map(
    (match) => match[1] as string,
  )
  const places = [dirname(document), '.', 'src']
  expect(named.filter((path) => !places.some((place) => existsSync(join(root, place, path))))).toEqual([])
})

test('pages and headings that comments, messages, alerts and settings name exist', () => {
  const isBroken = ([, page = '', anchor]: readonly (string | undefined)[]): boolean =>
    !existsSync(join(root, page)) || (anchor !== undefined && !anchorsOf(page).includes(anchor))
  const named = files.flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/\b(docs\/[\w-]+\.(?:md|yml|json))(?:#([\w-]+))?/g),
  ])
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(isBroken).map(([link]) => link)).toEqual([])
})

test('the programs of the page about tests are those that run', () => {
  const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
  const shown = [...page.matchAll(/<!-- (test\/examples\/\S+) -->\n```ts\n([^]*?)```/g)]
  expect(shown).toHaveLength(1)
  for (const [, path = '', code] of shown)
    expect(readFileSync(join(root, path), 'utf8').replace(/^\/\*\*[^]*?\*\/\n/, '')).toBe(code)
})

test('the README has at most 150 lines', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})
