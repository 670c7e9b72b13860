/** package.json: what an installation brings with it, and what a publication does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly version?: string
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T
const manifest = read<Manifest & { scripts: Record<string, string>; repository: { url: string } }>('package.json')
const { packages } = read<{ packages: Readonly<Record<string, Manifest>> }>('package-lock.json')

/** As Node finds it: from the package's own folder upwards. */
function placeOf(name: string, from: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') throw new Error(`package-lock.json does not have ${name}, which ${from} needs`)
  }
}

/** All that is installed with this package, pino and what it brings among it. */
function installed(): ReadonlyMap<string, Manifest> {
  const found = new Map<string, Manifest>()
  const visit = (
    place: string,
    { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Manifest,
  ): void => {
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const next = placeOf(name, place)
      if (found.has(next)) continue
      found.set(next, packages[next] as Manifest)
      visit(next, packages[next] as Manifest)
    }
  }
  visit('', manifest)
  return found
}

test('the lock file says the same of the package itself', () => {
  expect(read<object>('package.json')).toMatchObject(packages[''] as object)
})

describe('what is installed with it', () => {
  const all = installed()

  test('is found in the lock file', () => {
    expect([...all.keys()]).toEqual(
      expect.arrayContaining(['node_modules/undici', 'node_modules/pino', 'node_modules/pino-std-serializers']),
    )
  })

  test('runs no install scripts', () => {
    expect([...all].filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([place]) => place)).toEqual([])
    expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([])
  })

  test('is free to use', () => {
    const licences = /^(?:MIT|ISC|BSD-[23]-Clause|0BSD|Apache-2\.0)$/
    expect(
      [...all]
        .filter(([, { license = 'none' }]) => !licences.test(license))
        .map(([place, { license }]) => `${place}: ${license}`),
    ).toEqual([])
    expect(manifest.license).toBe('MIT')
  })
})

test('what is published is built, checked and tested first, and says where it comes from', () => {
  expect(manifest).toMatchObject({
    publishConfig: { access: 'public', provenance: true },
    scripts: { prepack: expect.stringContaining('build'), prepublishOnly: expect.stringMatching(/check.*test/) },
  })
  const address = manifest.repository.url.replace(/^git\+|\.git$/g, '')
  expect(manifest).toMatchObject({ homepage: `${address}#readme`, bugs: { url: `${address}/issues` } })
})
