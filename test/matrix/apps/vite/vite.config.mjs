/** The default `vite build --ssr`: installed packages are not bundled. */
import { defineConfig } from 'vite'

export default defineConfig({ build: { outDir: 'dist/default', ssr: true, rolldownOptions: { input: ['src/stream.js', 'src/target.js', 'src/options.js'] } } })
