/**
 * One compiler, several programs: prints its errors in the programs and in `pino-ingest`'s declarations, as JSON by
 * folder. Uses the compiler's API, which checks only these files and parses the libraries once.
 *
 * Usage: node check.mjs COMPILER FOLDER...
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const [compiler = '', ...folders] = process.argv.slice(2)
/** @type {typeof import('typescript-5.9')} */
const ts = createRequire(import.meta.url)(compiler)
/** @type {Map<string, import('typescript-5.9').SourceFile | undefined>} */
const parsed = new Map()

/** @param {string} folder */
function complaints(folder) {
  const configFile = join(folder, 'tsconfig.json')
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configFile, ts.sys.readFile).config,
    ts.sys,
    folder,
  )
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (name, languageVersion, ...rest) => {
    // The module system of a file depends on the mode.
    const key = `${name} ${JSON.stringify(languageVersion)}`
    if (!parsed.has(key)) parsed.set(key, getSourceFile(name, languageVersion, ...rest))
    return parsed.get(key)
  }
  const program = ts.createProgram(fileNames, options, host)
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => !fileName.includes('/node_modules/') || fileName.includes('/node_modules/pino-ingest/'))
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ]
  return found.map((one) =>
    ts.formatDiagnostic(one, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => dirname(folder),
      getNewLine: () => '\n',
    }),
  )
}

process.stdout.write(JSON.stringify(Object.fromEntries(folders.map((folder) => [folder, complaints(folder)]))))
