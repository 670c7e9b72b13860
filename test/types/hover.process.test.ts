/**
 * What an editor shows to a user of the built package: TypeScript's language service is asked for the quick info of each option, of
 * each export, and of each member of these that the package declares.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5.9'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Row } from '../../src/options/kinds.js'
import { findVariables } from '../../src/options/option-group.js'
import { OPTION_TABLE, listPaths } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { CALL_OPTION_NAMES } from '../../src/client/call-limits.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hover-')))
const installed = join(scratch, 'node_modules/pino-ingest')
const main = join(scratch, 'main.mts')

const ENTRY_POINTS = ['pino-ingest', 'pino-ingest/client', 'pino-ingest/service', 'pino-ingest/augment']
const OPTIONS = Object.keys(OPTION_TABLE) as OptionName[]

/** Where options are written in code. The braces get all options and members, as those of a group. */
const USES = {
  'a target of pino': "pino.transport<IngestOptions>({ target: 'pino-ingest', options: {} })",
  'the options of pino': "pino({ transport: { target: 'pino-ingest', options: {} satisfies IngestOptions } })",
  'ingestStream()': 'ingestStream({})',
  'new IngestClient()': 'new IngestClient({})',
}
type Use = keyof typeof USES

interface Hover {
  readonly text: string
  /** Of `@default`. */
  readonly byDefault: string | undefined
}

let service: ts.LanguageService
/** Positions in `main`, by name. */
let exported: Map<string, number>

const optionsOf = (use: Use): readonly OptionName[] => (use === 'new IngestClient()' ? CALL_OPTION_NAMES : OPTIONS)

function membersText(members: Readonly<Record<string, Row<unknown>>>): string {
  const lines = Object.entries(members).map(([name, { kind }]) =>
    kind.members === undefined ? `${name}: undefined,` : `${name}: ${membersText(kind.members)},`,
  )
  return `{\n${lines.join('\n')}\n}`
}

/** @param exports names by entry point */
function writeProgram(exports: ReadonlyMap<string, readonly string[]>): void {
  const imports = [...exports].map(
    ([from, names], at) =>
      `import type {\n${names.map((name) => `${name} as ${name}${at},`).join('\n')}\n} from '${from}'`,
  )
  const uses = (Object.keys(USES) as Use[]).map((use) => {
    const table = Object.fromEntries(optionsOf(use).map((name) => [name, OPTION_TABLE[name]]))
    return USES[use].replace(/\{\}/, membersText(table as Readonly<Record<string, Row<unknown>>>))
  })
  const named =
    "import pino from 'pino'\nimport { IngestClient, ingestStream } from 'pino-ingest'\nimport type { IngestOptions } from 'pino-ingest'"
  writeFileSync(main, [named, ...imports, ...uses].join('\n'))
}

/** Names of modules are resolved as a user's compiler does. */
function createService(): ts.LanguageService {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  }
  return ts.createLanguageService({
    getScriptFileNames: () => [main],
    getScriptVersion: (name) => (name === main ? String(readFileSync(main).length) : '1'),
    getScriptSnapshot: (name) => {
      const text = ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => scratch,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath && { realpath: ts.sys.realpath }),
  })
}

function programOf(): { readonly checker: ts.TypeChecker; readonly source: ts.SourceFile } {
  const program = service.getProgram()
  const source = program?.getSourceFile(main)
  if (program === undefined || source === undefined) throw new Error('there is no program')
  return { checker: program.getTypeChecker(), source }
}

beforeAll(() => {
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.js') })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  mkdirSync(join(scratch, 'node_modules/@types'))
  for (const name of ['pino', 'undici', '@types/node'])
    symlinkSync(join(root, 'node_modules', name), join(scratch, 'node_modules', name))
  writeFileSync(main, ENTRY_POINTS.map((name) => `import type {} from '${name}'`).join('\n'))
  service = createService()
  const { checker, source } = programOf()
  const modules = source.statements.filter(ts.isImportDeclaration).map(({ moduleSpecifier }) => moduleSpecifier)
  writeProgram(
    new Map(
      modules.map((specifier) => {
        const symbol = checker.getSymbolAtLocation(specifier)
        if (symbol === undefined) throw new Error(`${specifier.getText()} is not found`)
        return [(specifier as ts.StringLiteral).text, checker.getExportsOfModule(symbol).map(({ name }) => name)]
      }),
    ),
  )
  exported = importsIn(programOf().source)
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Positions of what is imported from the package, by `entry point name`. */
function importsIn(source: ts.SourceFile): Map<string, number> {
  const found = new Map<string, number>()
  for (const statement of source.statements.filter(ts.isImportDeclaration)) {
    const from = (statement.moduleSpecifier as ts.StringLiteral).text
    const bindings = statement.importClause?.namedBindings
    if (!ENTRY_POINTS.includes(from) || bindings === undefined || !ts.isNamedImports(bindings)) continue
    for (const { name, propertyName = name } of bindings.elements)
      found.set(`${from} ${propertyName.text}`, name.getStart())
  }
  return found
}

/** Positions of the options in one of `USES`, by path. */
function optionsIn(use: Use): Map<string, number> {
  const { source } = programOf()
  const found = new Map<string, number>()
  const statement = source.statements.filter(ts.isExpressionStatement)[Object.keys(USES).indexOf(use)]
  const visit = (node: ts.Node, path: string): void => {
    let inner = path
    if (ts.isPropertyAssignment(node)) {
      inner = path === '' ? node.name.getText() : `${path}.${node.name.getText()}`
      found.set(inner, node.name.getStart())
    }
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  if (statement !== undefined) visit(statement, '')
  // Those around the options.
  const prefix = use.includes('pino') ? [...found.keys()].find((path) => /(?:^|\.)options$/.test(path)) : undefined
  if (prefix === undefined) return found
  const within = [...found].filter(([path]) => path.startsWith(`${prefix}.`))
  return new Map(within.map(([path, at]) => [path.slice(prefix.length + 1), at]))
}

function hoverAt(file: string, position: number): Hover {
  const info = service.getQuickInfoAtPosition(file, position)
  const tags = (info?.tags ?? []).map(({ name, text }) => ({ name, text: ts.displayPartsToString(text) }))
  return {
    text: ts.displayPartsToString(info?.documentation).replaceAll(/\s+/g, ' '),
    byDefault: tags.find(({ name }) => name === 'default')?.text,
  }
}

describe.each(Object.keys(USES) as Use[])('options in %s', (use) => {
  test('each has its meaning, its variables and its default', () => {
    const positions = optionsIn(use)
    const paths = optionsOf(use).flatMap(listPaths)
    expect([...positions.keys()]).toEqual(paths.map(({ path }) => path))
    for (const { path, row } of paths) {
      const { text, byDefault } = hoverAt(main, positions.get(path) ?? 0)
      expect(text.replace(/Variables?.*/, '').length, `meaning of ${path}: ${text}`).toBeGreaterThan(10)
      for (const variable of findVariables(row, path)) expect(text, path).toContain(`\`${variable}\``)
      if ((row.defaultText ?? 'none') !== 'none') expect(byDefault ?? '', `default of ${path}`).not.toBe('')
      if (typeof row.default !== 'object' && row.default !== undefined)
        expect(byDefault, path).toContain(String(row.default))
    }
  })
})

describe('exports', () => {
  test('each has a text', () => {
    expect(exported.size).toBeGreaterThan(100)
    expect([...exported].filter(([, position]) => hoverAt(main, position).text === '').map(([name]) => name)).toEqual(
      [],
    )
  })

  test('each of their members that the package declares has a text', () => {
    const texts = textsOfMembers()
    expect([...texts].filter(([, text]) => text === '').map(([path]) => path)).toEqual([])
    expect(texts.size).toBeGreaterThan(300)
    // Members of a mapped type have the texts of the type that they are mapped from.
    expect(texts.get('pino-ingest/augment IngestLogFields.user_id')).not.toBe('')
    expect(texts.get('pino-ingest IngestClientOptions.requestTimeoutMs')).toContain('`PINO_INGEST_REQUEST_TIMEOUT_MS`')
  })
})

const isDeclaredHere = (node: ts.Node): boolean => node.getSourceFile().fileName.startsWith(`${installed}/`)

/** Texts of the members of the exported types, and of the types of these members, by the path from an export. */
function textsOfMembers(): Map<string, string> {
  const { checker, source } = programOf()
  const found = new Map<string, string>()
  const seen = new Set<ts.Type>()
  const visitType = (type: ts.Type, path: string): void => {
    if (seen.has(type)) return
    seen.add(type)
    if (type.isUnionOrIntersection()) for (const part of type.types) visitType(part, path)
    if (checker.isArrayType(type))
      for (const item of checker.getTypeArguments(type as ts.TypeReference)) visitType(item, path)
    if ((type.flags & ts.TypeFlags.Object) === 0) return
    for (const member of checker.getPropertiesOfType(type)) visitMember(member, `${path}.${member.name}`)
  }
  const visitMember = (member: ts.Symbol, path: string): void => {
    if (!(member.declarations ?? []).some((node) => isDeclaredHere(node) && isShown(node))) return
    found.set(path, ts.displayPartsToString(member.getDocumentationComment(checker)))
    visitType(checker.getTypeOfSymbol(member), path)
  }
  for (const [name, position] of exported) {
    const alias = checker.getSymbolAtLocation(findAt(source, position))
    if (alias === undefined) throw new Error(`${name} has no symbol`)
    const symbol = checker.getAliasedSymbol(alias)
    if (symbol.flags & ts.SymbolFlags.Type) visitType(checker.getDeclaredTypeOfSymbol(symbol), name)
  }
  return found
}

/** Types that no value has: their members name rules in the compiler's messages. */
const RULES = new Set(['Refused', 'NotIterable'])

function isShown(node: ts.Declaration): boolean {
  if (ts.isInterfaceDeclaration(node.parent) && RULES.has(node.parent.name.text)) return false
  const isMember =
    ts.isPropertySignature(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node)
  return isMember && !ts.isPrivateIdentifier(node.name)
}

function findAt(source: ts.SourceFile, position: number): ts.Node {
  let found: ts.Node = source
  const visit = (node: ts.Node): void => {
    if (node.getStart() > position || node.end <= position) return
    found = node
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
