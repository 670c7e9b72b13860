import type { NextConfig } from 'next'

const config: NextConfig = {
  output: 'standalone',
  serverExternalPackages: ['pino-ingest'],
  // What is imported is traced as ES modules; pino looks for its target as CommonJS.
  outputFileTracingIncludes: { '/*': ['./node_modules/pino-ingest/dist/cjs/**/*'] },
}
export default config
