/**
 * The packed package, installed into a scratch folder, in an ES-module, a CommonJS and a TypeScript application, on each
 * Node: 100 records of each arrive. Needs the npm registry; not part of `npm test`.
 *
 *     npm run test:nodes [-- 20 22 24 26]
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIngestService } from 'pino-ingest/service'

const RECORDS = 100
const KEY = 'nodes-key'
const root = fileURLToPath(new URL('../..', import.meta.url))
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26']
const scratch = mkdtempSync(join(tmpdir(), 'pino-ingest-nodes-'))
const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', scratch], root))
const app = join(scratch, 'app')
mkdirSync(app)
writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}\n')
npm(['install', '--no-audit', '--no-fund', join(scratch, filename), 'pino@10', 'typescript@7', '@types/node@20'], app)
cpSync(new URL('apps', import.meta.url), app, { recursive: true })
execFileSync(process.execPath, [
  join(app, 'node_modules/typescript/bin/tsc'), '--module', 'nodenext', '--target', 'es2022', '--strict', '--skipLibCheck', 'false',
  '--outDir', 'compiled', 'app.ts',
], { cwd: app, stdio: 'inherit' })

const apps = [['ES module', 'app.mjs', 'esm'], ['CommonJS', 'app.cjs', 'cjs'], ['TypeScript', 'compiled/app.js', 'typescript']]
let failed = 0
for (const version of versions) {
  const folder = join(scratch, `node-${version}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  npm(['install', '--no-save', '--no-audit', '--no-fund', `node@${version}`], folder)
  const node = join(folder, 'node_modules/node/bin/node')
  const full = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  for (const [name, file, service] of apps) {
    const { code, stderr, arrived } = await run(node, file, service)
    const isGood = code === 0 && stderr === '' && arrived === RECORDS
    if (!isGood) failed += 1
    console.log(`${full.padEnd(10)} ${name.padEnd(10)} ${arrived} of ${RECORDS} arrived, exit code ${code}${isGood ? '' : `  FAILED ${stderr}`}`)
  }
}
rmSync(scratch, { recursive: true })
process.exitCode = failed === 0 ? 0 : 1

async function run(node, file, service) {
  const local = await createIngestService({ apiKeys: [KEY] })
  const child = spawn(node, [join(app, file)], {
    cwd: app, env: { PATH: process.env.PATH, PINO_INGEST_URL: local.url, PINO_INGEST_API_KEY: KEY, PINO_INGEST_SPOOL_DIR: join(scratch, 'spool') }, stdio: ['ignore', 'inherit', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const code = await new Promise((resolve) => {
    child.once('close', resolve)
  })
  const arrived = local.counts({ service }).total
  await local.close()
  return { code, stderr, arrived }
}
