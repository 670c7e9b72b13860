import type { NextConfig } from 'next'

const config: NextConfig = {
  output: 'standalone',
  serverExternalPackages: ['pino-ingest'],
  // Next traces imports as ES modules; pino resolves its target as CommonJS.
  outputFileTracingIncludes: { '/*': ['./node_modules/pino-ingest/dist/cjs/**/*'] },
}
export default config
