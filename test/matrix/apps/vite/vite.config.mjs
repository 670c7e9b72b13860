/** `vite build --ssr` as it comes: what is installed stays out of the bundle. */
import { defineConfig } from 'vite'

export default defineConfig({ build: { outDir: 'dist/default', ssr: true, rolldownOptions: { input: ['src/stream.ts', 'src/target.ts', 'src/options.ts'] } } })
