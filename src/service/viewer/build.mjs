/**
 * Bundles the page into `../http/page-bundle.ts`, which is not kept in git: text, so that the service finds its page wherever it
 * is installed or bundled itself.
 *
 *     node src/service/viewer/build.mjs
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const MAX_GZIP_BYTES = 60_000

const here = (name) => fileURLToPath(new URL(name, import.meta.url))

const { outputFiles } = await build({
  entryPoints: [here('main.tsx'), here('style.css')],
  outdir: here('out'),
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
})
const built = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text
const script = built('main.js')
const style = built('style.css')
const html = readFileSync(here('index.html'), 'utf8')
const files = { html, script, style }

const bytes = Object.values(files).reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0)
if (bytes > MAX_GZIP_BYTES)
  throw new Error(`the page has ${bytes} bytes gzipped, more than the ${MAX_GZIP_BYTES} it may have`)

const version = createHash('sha256').update(script).update(style).update(html).digest('hex').slice(0, 12)
const packed = Object.entries(files).map(
  ([name, text]) => `  ${name}: '${brotliCompressSync(text).toString('base64')}',`,
)
// With a type of its own: else the declarations would hold all of it once more.
writeFileSync(
  here('../http/page-bundle.ts'),
  `/** Made by \`../viewer/build.mjs\`: the page's files, compressed with Brotli, as base64. */
export const BUNDLE: Readonly<Record<'version' | ${Object.keys(files)
    .map((name) => `'${name}'`)
    .join(' | ')}, string>> = {
  version: '${version}',
${packed.join('\n')}
}
`,
)
process.stdout.write(`page: ${bytes} bytes gzipped\n`)
