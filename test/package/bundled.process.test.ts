/** An application whose bundle contains this package and pino, without `node_modules` beside it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../markdown.js'

const REQUIRE = `import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);`

test.each(['cjs', 'esm'] as const)('%s: pino reports that it does not find the worker', async (format) => {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [source, outfile] = [join(folder, 'app.js'), join(folder, format === 'cjs' ? 'out.cjs' : 'out.mjs')]
  writeFileSync(
    source,
    `import pino from 'pino'
    import { ingestOptions } from 'pino-ingest'
    pino(ingestOptions({ url: 'http://127.0.0.1:9/api/v1', apiKey: 'any-key-of-the-test' }))`,
  )
  await build({
    ...{ entryPoints: [source], outfile, bundle: true, platform: 'node', format, logLevel: 'error' },
    alias: { 'pino-ingest': join(root, 'dist/cjs/index.js'), pino: join(root, 'node_modules/pino') },
    ...(format === 'esm' && { banner: { js: REQUIRE } }),
  })
  const { status, stderr } = spawnSync(process.execPath, [outfile], { cwd: folder, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain('unable to determine transport target for "pino-ingest"')
})
