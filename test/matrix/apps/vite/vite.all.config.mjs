/** Bundles everything into the output folder. */
import { defineConfig } from 'vite'

const isCommonJs = process.env['FORMAT'] === 'cjs'
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    outDir: `dist/all-${isCommonJs ? 'cjs' : 'esm'}`, ssr: true, minify: process.env['MINIFY'] === 'true', emptyOutDir: true,
    rolldownOptions: {
      input: ['src/stream.ts', 'src/target.ts', 'src/options.ts'],
      output: isCommonJs ? { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' } : {},
    },
  },
})
