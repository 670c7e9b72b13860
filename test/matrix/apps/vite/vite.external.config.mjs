/** Bundles everything into the output folder, except pino and the transport. */
import { defineConfig } from 'vite'

export default defineConfig({
  ssr: { noExternal: true, external: ['pino', 'pino-ingest'] },
  build: { outDir: 'dist/external', ssr: true, rolldownOptions: { input: ['src/stream.js', 'src/target.js'] } },
})
