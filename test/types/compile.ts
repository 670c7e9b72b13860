/**
 * The package's declarations in its users' compilers: programs that import the installed `pino-ingest`, for each
 * way of resolving modules.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const programs = fileURLToPath(new URL('programs', import.meta.url))
const check = fileURLToPath(new URL('check.mjs', import.meta.url))
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'compilers-')))
const run = promisify(execFile)

interface Mode {
  readonly name: string
  readonly options: Readonly<Record<string, unknown>>
  /** File extensions of the programs, which decide the module system in Node's modes. */
  readonly endings: readonly string[]
  readonly programs: readonly string[]
}

/** Options that users set differently: on in one mode and off in another. */
const STRICTER = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
}

const NODENEXT: Mode = {
  name: 'nodenext, ES modules and CommonJS',
  options: { module: 'nodenext', ...STRICTER },
  endings: ['mts', 'cts'],
  programs: ['options', 'helpers', 'client', 'service'],
}
const BUNDLER: Mode = {
  name: 'bundler',
  options: { module: 'esnext', moduleResolution: 'bundler' },
  endings: ['ts'],
  programs: ['options', 'helpers', 'client', 'service'],
}
/** The augmentation applies to a whole program, so `helpers`, which does not use it, is not included. */
const AUGMENTED: Mode = {
  name: 'nodenext, augmented',
  options: { module: 'nodenext' },
  endings: ['mts', 'cts'],
  programs: ['augmented', 'client'],
}
/** Wrong fields whose errors are compared with the comments. */
const REFUSED: Mode = {
  name: 'nodenext, wrong fields',
  options: { module: 'nodenext' },
  endings: ['mts'],
  programs: ['refused'],
}
/** Ignores `exports`: uses `main` and `typesVersions`. TypeScript 6 needs an extra option for it; 7 has removed it. */
const NODE10: Mode = {
  name: 'node10, augmented',
  options: { module: 'commonjs', moduleResolution: 'node10', ...STRICTER },
  endings: ['ts'],
  programs: ['augmented', 'options', 'client', 'service'],
}

/** By the names in package.json. */
const MODES: Readonly<Record<string, readonly Mode[]>> = {
  'typescript-5.4': [NODENEXT, BUNDLER, NODE10],
  'typescript-5.9': [NODENEXT, BUNDLER, NODE10],
  'typescript-6': [NODENEXT, BUNDLER, { ...NODE10, options: { ...NODE10.options, ignoreDeprecations: '6.0' } }],
  typescript: [NODENEXT, BUNDLER, AUGMENTED],
}

/** A busy machine needs this long. */
const LIMIT_MS = 240_000

function install(): void {
  const installed = join(scratch, 'node_modules/pino-ingest')
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.js') })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  mkdirSync(join(scratch, 'node_modules/@types'))
  // The compiler resolves declarations of other packages from their real path.
  for (const name of ['pino', 'undici', '@types/node', 'expect-type'])
    symlinkSync(join(root, 'node_modules', name), join(scratch, 'node_modules', name))
}

function folderOf(compiler: string, { name, options, endings, programs: names }: Mode): string {
  const folder = join(scratch, `${compiler}-${name.replaceAll(/\W+/g, '-')}`)
  mkdirSync(folder)
  for (const ending of endings)
    for (const one of names) cpSync(join(programs, `${one}.mts`), join(folder, `${one}.${ending}`))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2023'],
        types: ['node'],
        strict: true,
        skipLibCheck: false,
        esModuleInterop: true,
        noEmit: true,
        ...options,
      },
      include: ['*'],
    }),
  )
  return folder
}

/** The compiler's errors in the programs and in this package's declarations; those in other packages are ignored. */
async function complaints(compiler: string, folders: readonly string[]): Promise<readonly (readonly string[])[]> {
  const require = createRequire(import.meta.url)
  // From TypeScript 7 on there is only the executable, which is fast.
  if (compiler === 'typescript')
    return Promise.all(
      folders.map((folder) =>
        printed(require.resolve('typescript/package.json').replace('package.json', 'bin/tsc'), folder),
      ),
    )
  const { stdout } = await run(process.execPath, [check, require.resolve(compiler), ...folders], { timeout: LIMIT_MS })
  return folders.map((folder) => (JSON.parse(stdout) as Record<string, string[]>)[folder] ?? ['not compiled'])
}

async function printed(compiler: string, folder: string): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    timeout: LIMIT_MS,
  }).catch((error: { stdout: string; message: string }) => ({
    stdout: error.stdout === '' ? error.message : error.stdout,
  }))
  return stdout
    .split(/\n(?! )/)
    .filter((one) => one.trim() !== '' && !/^[^(]*node_modules\/(?!pino-ingest\/)/.test(one))
}

/** Tests that these compilers accept the programs, and name the rule that a wrong field of a log call violates. */
export function testCompilers(...compilers: readonly string[]): void {
  beforeAll(install)
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test.concurrent.each(compilers)(
    '%s',
    async (compiler) => {
      const modes = MODES[compiler] ?? []
      const folders = [...modes, REFUSED].map((mode) => folderOf(compiler, mode))
      const found = await complaints(compiler, folders)
      expect(Object.fromEntries(modes.map(({ name }, at) => [name, found[at]]))).toEqual(
        Object.fromEntries(modes.map(({ name }) => [name, []])),
      )
      const lines = readFileSync(join(folders.at(-1) ?? '', 'refused.mts'), 'utf8').split('\n')
      for (const [index, line] of lines.entries()) {
        const rule = /^logger.* \/\/ (.*)$/.exec(line)?.[1]
        const told = found.at(-1)?.find((one) => one.includes(`refused.mts(${index + 1},`))
        expect(told ?? '', line).toContain(rule ?? '')
      }
    },
    LIMIT_MS,
  )
}
