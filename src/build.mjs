/**
 * Builds the package: `dist/`, which npm packs, and `build/modules/`, one file per module, for tests and benchmarks of
 * internals.
 *
 *     node src/build.mjs
 *
 * `dist/cjs` has a file per entry point, and chunks that these share. Each module is in one file only. `dist/esm`
 * re-exports `dist/cjs`, so classes and state exist only once, however the package is loaded.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, encode } from '@jridgewell/sourcemap-codec'
import { transform } from 'esbuild'
import { build } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'
import { dts } from 'rolldown-plugin-dts'
import { minify } from 'terser'

/** @typedef {import('rolldown').OutputChunk} OutputChunk */
/** @typedef {import('@jridgewell/sourcemap-codec').SourceMapSegment} SourceMapSegment */

const src = dirname(fileURLToPath(import.meta.url))
const root = dirname(src)
const dist = join(root, 'dist')
const modules = join(root, 'build/modules')
const inSrc = (/** @type {string} */ name) => join(src, name)

const TARGET = 'node20'
const IS_COMMONJS = '{"type":"commonjs"}\n'
const PACKAGES =
  /^(?:node:.*|undici(?:\/.*)?|pino|pino-abstract-transport|sonic-boom|@nats-io\/.*|@modelcontextprotocol\/server(?:\/.*)?|@opentelemetry\/api)$/
/** Licenses of bundled packages. @type {Readonly<Record<string, string>>} */
const NOTICES = { 're2js.js': `/*! re2js\n\n${readFileSync(join(root, 'node_modules/re2js/LICENSE'), 'utf8')}*/\n` }
/** Node prints no source line, which is minified, above an uncaught error if the line contains this text. */
const NO_EXCERPT = '//node-do-not-add-exception-line'
/** Chunks without functions that throw into applications, and with templates of several lines. */
const COMMAND_CHUNKS = /^(?:cli|command-line|commands|local-commands|pipe|local-service|page)\.js$/
/** What a line needs to be in a stack: a call, a property, a template, `await`, `throw`, or a value that is taken apart. */
const IN_STACKS = /[(.[`]|await|throw|[\]}] =/
/** Chunks with a source map: those that run within applications. */
const MAPPED = new Set(['application.js', 'common.js', 'mapping.js', 'pipeline.js'])
const EXPORT_GETTER =
  /^Object\.defineProperty\(exports, ["'](\w+)["'], \{\n\s*enumerable: true,\n\s*get: function\(\) \{\n\s*return ([\w$.]+);\n\s*\}\n\}\);/gm
/** The getters of esbuild, which precede the module's code. */
const MODULE_GETTERS =
  /^__export\(stdin_exports, \{\n(.*?)\n\}\);\nmodule\.exports = __toCommonJS\(stdin_exports\);\n/ms
const ENTRIES = {
  transport: inSrc('transport/worker.ts'),
  stream: inSrc('transport/in-process.ts'),
  client: inSrc('client/index.ts'),
  service: inSrc('service/index.ts'),
  cli: inSrc('cli/main.ts'),
}

for (const folder of [dist, modules]) rmSync(folder, { recursive: true, force: true })
for (const folder of ['cjs', 'esm']) mkdirSync(join(dist, folder), { recursive: true })
const [exportsOf] = await Promise.all([writeBundles(), writeDeclarations(), writeModules()])
await writeEntryPoints(exportsOf)

/** @returns {Promise<Record<string, readonly string[]>>} the names that each entry exports */
async function writeBundles() {
  const app = '\0app'
  const onDemand = '\0transport-on-demand'
  const re2js = '\0re2js'
  /** @type {Readonly<Record<string, string>>} */
  const virtual = {
    [app]: `export * from ${JSON.stringify(inSrc('index.ts'))}; export { ingest } from '${onDemand}'`,
    [re2js]: `export { RE2JS } from ${JSON.stringify(fileURLToPath(import.meta.resolve('re2js')))}`,
    [onDemand]: `export const ingest = require('./index.js').default
      export function ingestStream(options) { return require('./stream.js').ingestStream(options) }`,
  }
  /** @type {(id: string) => string | null} */
  let chunkOf = () => null
  const { output } = await build({
    cwd: root,
    input: { app, re2js, ...ENTRIES },
    external: (id, importer) => (importer === onDemand && id.startsWith('./')) || PACKAGES.test(id),
    makeAbsoluteExternalsRelative: false,
    platform: 'node',
    tsconfig: false,
    transform: { target: TARGET },
    treeshake: { moduleSideEffects: (id) => /(?:shared.node-version|cli.main|src.index)\.ts$/.test(id) },
    write: false,
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      {
        name: 'transport-on-demand',
        resolveId(id, importer) {
          if (id in virtual) return id
          if (id === 're2js') return { id: './re2js.js', external: true }
          const isTransport = importer === inSrc('index.ts') && /^\.\/transport\/(?:ingest|in-process)\.js$/.test(id)
          return isTransport ? onDemand : undefined
        },
        load: (id) => virtual[id],
        buildEnd() {
          chunkOf = createChunkOf([...this.getModuleIds()], (id) => this.getModuleInfo(id), app)
        },
      },
    ],
    output: {
      format: 'cjs',
      exports: 'named',
      esModule: false,
      dynamicImportInCjs: false,
      strict: true,
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      comments: false,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ debugName: 'by entry point', name: (id) => chunkOf(id) }],
      },
    },
  })
  const chunks = output.filter((one) => one.type === 'chunk')
  refuseCycles(chunks)
  await Promise.all(chunks.map(writeChunk))
  return Object.fromEntries(chunks.map(({ name, exports }) => [name, exports.toSorted()]))
}

/**
 * Assigns modules to few chunks, such that entry points load little unneeded code.
 * @param {readonly string[]} ids @param {(id: string) => import('rolldown').ModuleInfo | null} infoOf @param {string} app
 * @returns {(id: string) => string | null}
 */
function createChunkOf(ids, infoOf, app) {
  /** @param {string} id @param {Set<string>} found */
  const reach = (id, found = new Set()) => {
    if (found.has(id)) return found
    found.add(id)
    for (const next of infoOf(id)?.importedIds ?? []) if (infoOf(next) !== null) reach(next, found)
    return found
  }
  const [client, transport, stream, service, application, commandLine] = [
    [ENTRIES.client],
    [ENTRIES.transport],
    [ENTRIES.stream],
    [ENTRIES.service],
    [app],
    [ENTRIES.cli, ...ids.filter((id) => id.startsWith(inSrc('cli/shared/')))],
  ].map((roots) => roots.reduce((found, id) => reach(id, found), /** @type {Set<string>} */ (new Set())))
  const inApplications = [client, transport, stream, application].flatMap((of) => [...(of ?? [])])
  const onDemand = inApplications
    .flatMap((id) => infoOf(id)?.dynamicallyImportedIds ?? [])
    .reduce((found, id) => (infoOf(id) === null ? found : reach(id, found)), /** @type {Set<string>} */ (new Set()))
  const entries = new Set([app, inSrc('index.ts'), ...Object.values(ENTRIES)])
  return (id) => {
    const [folder = '', command = ''] = relative(src, id).split(/[\\/]/)
    if (entries.has(id) || id.startsWith('\0') || folder === '..') return null
    // In a separate file, which each entry point loads first.
    if (basename(id) === 'node-version.ts') return 'node-version'
    if (folder === 'service') return basename(id).startsWith('page-') ? 'page' : 'local-service'
    const isOfCalls = client?.has(id) || service?.has(id)
    if (transport?.has(id))
      return isOfCalls || [stream, application, commandLine].some((of) => of?.has(id)) ? 'common' : null
    if (stream?.has(id)) return isOfCalls || application?.has(id) ? 'mapping' : 'pipeline'
    if (isOfCalls) return 'calls'
    if (application?.has(id)) return 'application'
    if (onDemand.has(id)) return 'nats'
    if (commandLine?.has(id)) return 'command-line'
    if (['dev', 'local', 'tail', 'query', 'mcp'].includes(command)) return 'local-commands'
    return command === 'pipe' ? command : 'commands'
  }
}

/**
 * Throws for a cycle, in which a file would read exports of another one before they exist.
 * @param {readonly OutputChunk[]} chunks
 */
function refuseCycles(chunks) {
  const visit = (/** @type {string} */ name, /** @type {readonly string[]} */ path) => {
    if (path.includes(name)) throw new Error(`files of dist/cjs import each other: ${[...path, name].join(' -> ')}`)
    for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) visit(next, [...path, name])
  }
  for (const { fileName } of chunks) visit(fileName, [])
}

/**
 * Removes white space, and shortens names of variables, a fifth of the code. Functions and classes keep their names, which stacks and profiles
 * show.
 * @param {OutputChunk} chunk
 */
async function writeChunk({ fileName, code, map }) {
  const file = join(dist, 'cjs', fileName)
  // Replaces getters, which would be called at each use of an export in another chunk.
  const plain = code
    .replaceAll(
      EXPORT_GETTER,
      (getter, exported, value) => `exports.${exported} = ${value};${'\n'.repeat(getter.split('\n').length - 1)}`,
    )
    .replaceAll(/\brequire_(\w+)/g, '$$$1')
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '')
  const hasMap = map !== null && MAPPED.has(fileName)
  const given = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`
  const small = await transform(`${plain}${hasMap ? given : ''}`, {
    target: TARGET,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: hasMap && 'external',
    sourcesContent: false,
  })
  const { code: short = '', map: made } = await minify(small.code, {
    compress: false,
    mangle: { keep_fnames: true, keep_classnames: true },
    format: { max_line_len: 240 },
    ...(hasMap && { sourceMap: { content: small.map, asObject: true } }),
  })
  const { sources, mappings: encoded } = /** @type {{ sources: string[], mappings: string }} */ (
    hasMap ? made : { sources: [], mappings: '' }
  )
  const mappings = decode(encoded)
  const lines = COMMAND_CHUNKS.test(fileName) ? short.split('\n') : await markThrowLines(short)
  writeFileSync(
    file,
    `${NOTICES[fileName] ?? ''}${lines.join('\n')}${hasMap ? `//# sourceMappingURL=${fileName}.map\n` : ''}`,
  )
  if (hasMap) writeFileSync(`${file}.map`, JSON.stringify(withLinesOnly(sources, mappings, lines)))
}

/** Marks each line with a `throw`, unless it ends within a template. @param {string} code minified */
async function markThrowLines(code) {
  const templates = findTemplates(parseAst(code))
  let at = -1
  const lines = code.split('\n').map((line) => {
    at += line.length + 1
    const end = at
    const isThrow = /\bthrow\b/.test(line) && !templates.some(({ start, end: last }) => start <= end && end < last)
    return isThrow ? line + NO_EXCERPT : line
  })
  const [before, after] = await Promise.all(
    [code, lines.join('\n')].map((one) => transform(one, { minifyWhitespace: true })),
  )
  if (before?.code !== after?.code) throw new Error('marking the lines with a throw changed the code')
  return lines
}

/** @param {unknown} node @returns {{ start: number, end: number }[]} the texts of templates */
function findTemplates(node) {
  if (typeof node !== 'object' || node === null) return []
  const { type, start, end } = /** @type {Record<string, any>} */ (node)
  return type === 'TemplateElement' ? [{ start, end }] : Object.values(node).flatMap(findTemplates)
}

/** Reduces a source map to a fifth: one position per source line that can be in a stack, instead of one per word. */
function withLinesOnly(
  /** @type {string[]} */ paths,
  /** @type {SourceMapSegment[][]} */ decoded,
  /** @type {readonly string[]} */ lines,
) {
  const sources = paths.map((source) => {
    const at = source.lastIndexOf('../src/')
    if (at === -1) throw new Error(`not a module of src: ${source}`)
    return source.slice(at + '../src/'.length)
  })
  const sourceLines = sources.map((source) => readFileSync(join(root, 'src', source), 'utf8').split('\n'))
  const mappings = decoded.map((segments, row) => {
    let before = ''
    return segments.flatMap((segment) => {
      const [column, source, line] = segment
      if (source === undefined || line === undefined) return []
      if (before === `${source}:${line}` || (before !== '' && /[)\]}]/.test(lines[row]?.[column] ?? ''))) return []
      if (!IN_STACKS.test(sourceLines[source]?.[line] ?? '')) return []
      before = `${source}:${line}`
      return [/** @type {[number, number, number, number]} */ ([column, source, line, 0])]
    })
  })
  return { version: 3, sourceRoot: '../../src/', sources, names: [], mappings: encode(mappings) }
}

async function writeDeclarations() {
  await build({
    cwd: root,
    input: {
      index: inSrc('index.ts'),
      client: ENTRIES.client,
      service: ENTRIES.service,
      augment: inSrc('augment.ts'),
    },
    external: PACKAGES,
    treeshake: { moduleSideEffects: false },
    checks: { pluginTimings: false },
    logLevel: 'silent',
    plugins: [dts({ tsconfig: inSrc('tsconfig.json'), emitDtsOnly: true })],
    output: {
      dir: join(dist, 'cjs'),
      format: 'es',
      chunkFileNames: 'types-[name].js',
      minifyInternalExports: false,
      // A file for each folder, lower layers first, since a group also takes what its modules import.
      codeSplitting: {
        groups: ['protocol', 'shared', 'diagnostics', 'options', 'client', 'transport', 'app', 'service'].map(
          (folder, at) => ({ name: `${folder}.d`, test: (id) => id.startsWith(inSrc(`${folder}/`)), priority: 9 - at }),
        ),
      },
    },
  })
}

/** @param {Record<string, readonly string[]>} exported */
async function writeEntryPoints(exported) {
  const write = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(join(dist, name), text)
  write('cjs/package.json', IS_COMMONJS)
  const names = (exported.app ?? []).filter((name) => name !== 'ingest')
  write(
    'cjs/index.js',
    `'use strict';
require('./node-version.js');
// pino's worker imports this file. Names that Node does not find in its text are not read at its import, which would load the application's functions.
Object.defineProperty(exports, '__esModule', { value: true });
exports.default = function ingest(options) { return require('./transport.js').isPinoWorker() ? require('./transport.js').ingestTransport(options) : require('./stream.js').ingestStream(options); };
for (const name of ${JSON.stringify(names)}) Object.defineProperty(exports, name, { enumerable: true, configurable: true, get: () => require('./app.js')[name] });
`,
  )
  write('cjs/augment.js', `'use strict';\n`)
  write('esm/augment.js', 'export {};\n')
  write('esm/augment.d.ts', `import '../cjs/augment.js';\nexport type * from '../cjs/augment.js';\n`)
  const version = await transform(readFileSync(inSrc('shared/node-version.ts'), 'utf8'), {
    loader: 'ts',
    target: TARGET,
    minifyWhitespace: true,
  })
  // Not the CommonJS file: if a required file throws during an import, Node 20 reports the error a second time, as
  // uncaught.
  write('esm/node-version.js', version.code)
  write(
    'esm/index.js',
    `import './node-version.js';\nexport { ${names.join(', ')}, ingest as default } from '../cjs/app.js';\n`,
  )
  write(
    'esm/index.d.ts',
    `export * from '../cjs/index.js';\nexport { ingest as default } from '../cjs/types-transport.js';\n`,
  )
  for (const name of ['client', 'service']) {
    write(
      `esm/${name}.js`,
      `import './node-version.js';\nexport { ${exported[name]?.join(', ')} } from '../cjs/${name}.js';\n`,
    )
    write(`esm/${name}.d.ts`, `export * from '../cjs/${name}.js';\n`)
  }
}

async function writeModules() {
  const names = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter(
      (name) =>
        /\.(?:ts|cjs)$/.test(name) &&
        !name.endsWith('.d.ts') &&
        !/^(?:service\/viewer|record\/kernel\/assembly)\//.test(name),
    )
  await Promise.all(
    names.map(async (name) => {
      const { code } = await transform(readFileSync(inSrc(name), 'utf8'), {
        loader: name.endsWith('.ts') ? 'ts' : 'js',
        format: 'cjs',
        target: TARGET,
        platform: 'node',
      })
      const file = join(modules, name.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, withoutGetters(code))
    }),
  )
  writeFileSync(join(modules, 'package.json'), IS_COMMONJS)
}

/**
 * Assigns exports at the end of a module, since getters would make the modules a third slower than `dist`. No module
 * needs an export earlier, because imports form no cycle.
 * @param {string} code
 */
function withoutGetters(code) {
  const [block = '', getters = ''] = MODULE_GETTERS.exec(code) ?? []
  const assignments = getters.replaceAll(/^ *(\w+): \(\) => ([\w$.]+),?$/gm, 'exports.$1 = $2;')
  return block === '' ? code : `${code.replace(block, '')}exports.__esModule = true;\n${assignments}\n`
}
