/** What an editor shows to a user of the built package: each export, and each member that the package declares, has a text. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5.9'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ENTRY_POINTS = ['pino-ingest', 'pino-ingest/client', 'pino-ingest/service', 'pino-ingest/augment']
/** Types that no value has: their members name rules in the compiler's messages. */
const RULES = new Set(['Refused', 'NotIterable'])

/** Compiles imports of all entry points. @returns the compiler, their modules, and the folder of the package */
function compiled() {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hover-')))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const installed = join(scratch, 'node_modules/pino-ingest')
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.js') })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  mkdirSync(join(scratch, 'node_modules/@types'))
  for (const name of ['pino', 'undici', '@types/node'])
    symlinkSync(join(root, 'node_modules', name), join(scratch, 'node_modules', name))
  const main = join(scratch, 'main.mts')
  writeFileSync(main, ENTRY_POINTS.map((name) => `import type {} from '${name}'`).join('\n'))
  const program = ts.createProgram([main], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  })
  const checker = program.getTypeChecker()
  const imports = program.getSourceFile(main)?.statements.filter(ts.isImportDeclaration) ?? []
  const modules = imports.map(({ moduleSpecifier }) => checker.getSymbolAtLocation(moduleSpecifier))
  return { checker, modules: modules.filter((one) => one !== undefined), installed }
}

test('each export, and each of their members that the package declares, has a text', () => {
  const { checker, modules, installed } = compiled()
  expect(modules).toHaveLength(ENTRY_POINTS.length)
  const texts = new Map<string, string>()
  const seen = new Set<ts.Type>()
  const textOf = (symbol: ts.Symbol): string => ts.displayPartsToString(symbol.getDocumentationComment(checker))
  const isShown = (node: ts.Declaration): boolean => {
    if (!node.getSourceFile().fileName.startsWith(`${installed}/`)) return false
    if (ts.isInterfaceDeclaration(node.parent) && RULES.has(node.parent.name.text)) return false
    const isMember =
      ts.isPropertySignature(node) ||
      ts.isMethodSignature(node) ||
      ts.isPropertyDeclaration(node) ||
      ts.isMethodDeclaration(node)
    return isMember && !ts.isPrivateIdentifier(node.name)
  }
  const visit = (type: ts.Type, path: string): void => {
    if (seen.has(type)) return
    seen.add(type)
    if (type.isUnionOrIntersection()) for (const part of type.types) visit(part, path)
    if (checker.isArrayType(type))
      for (const item of checker.getTypeArguments(type as ts.TypeReference)) visit(item, path)
    if ((type.flags & ts.TypeFlags.Object) === 0) return
    for (const member of checker.getPropertiesOfType(type)) {
      if (!(member.declarations ?? []).some(isShown)) continue
      texts.set(`${path}.${member.name}`, textOf(member))
      visit(checker.getTypeOfSymbol(member), `${path}.${member.name}`)
    }
  }
  for (const exported of modules.flatMap((one) => checker.getExportsOfModule(one))) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    texts.set(exported.name, textOf(symbol))
    if (symbol.flags & ts.SymbolFlags.Type) visit(checker.getDeclaredTypeOfSymbol(symbol), exported.name)
  }
  expect(texts.size).toBeGreaterThan(400)
  expect([...texts].filter(([, text]) => text === '').map(([path]) => path)).toEqual([])
  // Members of a mapped type have the texts of the type that they are mapped from.
  expect(texts.get('IngestLogFields.user_id')).toBeDefined()
  expect(texts.get('IngestClientOptions.requestTimeoutMs')).toContain('`PINO_INGEST_REQUEST_TIMEOUT_MS`')
})
