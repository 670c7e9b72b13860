import { expect, test } from 'vitest'
import { isCatchAll } from '../../src/request-logs/route-pattern.js'

test.each([
  '*',
  '/*',
  '*splat',
  '/{*path}',
  '{/*splat}',
  '/{any*}',
  '/(.*)',
  '/:path(.*)',
  '/:path(*)',
  '/:rest+',
  '/*/',
])('%s is not a route', (pattern) => {
  expect(isCatchAll(pattern)).toBe(true)
})

test.each(['', '/', '/files/*', '/:id(\\d+)', '/{id}', '/{id*2}', '/api/{*path}', '/*/edit', '/x'])(
  '%s is a route',
  (pattern) => {
    expect(isCatchAll(pattern)).toBe(false)
  },
)
