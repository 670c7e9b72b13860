/** One wildcard for the whole path, as Express, Nest, Fastify, hapi, Koa and Hono write it. */
const CATCH_ALL = /^\/?(?:\*{1,2}\w*|\{\/?\*\w*\}|\{\w+\*\}|\(\.?[*+]\)[*+]?|:\w+(?:[*+]|\(\.?[*+]\)[*+]?))[/?]?$/

/** Whether a pattern matches every path. Such a fallback route does not describe a request. */
export function isCatchAll(pattern: string): boolean {
  return CATCH_ALL.test(pattern)
}
