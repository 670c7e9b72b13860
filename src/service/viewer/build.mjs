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
import { minify } from 'terser'

const MAX_GZIP_BYTES = 65_000

const here = (name) => fileURLToPath(new URL(name, import.meta.url))

const { outputFiles } = await build({
  entryPoints: [here('main.tsx'), here('style.css')],
  outdir: here('out'),
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: ['es2022'],
  // Calls of h() are shorter than those of the automatic runtime: 600 bytes of the page.
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: [here('jsx.ts')],
  // The JSX options of tsconfig.json would take precedence.
  tsconfigRaw: {},
  legalComments: 'none',
  logLevel: 'warning',
})
const built = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text
// terser saves 3 kB that esbuild's minification leaves. The names are those of this code only: neither the API, which has
// snake_case, nor the DOM nor Preact has them.
const { code: script } = await minify(built('main.js'), {
  module: true,
  ecma: 2020,
  compress: { passes: 3, inline: 1, unsafe_arrows: true, pure_getters: true },
  mangle: { properties: { regex: /^(?:is|has|add|max|page|first|last)[A-Z]|[a-z](?:Ms|Rows|Limit|Loaded|Count)$/ } },
})
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
