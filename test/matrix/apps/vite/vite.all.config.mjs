/** Bundles everything into the output folder. */
import { defineConfig } from 'vite'

const isCommonJs = process.env['FORMAT'] === 'cjs'
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    outDir: `dist/all-${isCommonJs ? 'cjs' : 'esm'}`, ssr: true, emptyOutDir: true,
    rolldownOptions: {
      input: ['src/stream.js', 'src/target.js', 'src/options.js'],
      output: isCommonJs ? { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' } : {},
    },
  },
})
