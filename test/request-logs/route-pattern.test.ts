import { expect, test } from 'vitest'
import { isCatchAll } from '../../src/request-logs/route-pattern.js'

test.each([
  '*',
  '/*',
  '/**',
  '*splat',
  '/*splat',
  '/{*path}',
  '{/*splat}',
  '{*path}',
  '/{any*}',
  '(.*)',
  '/(.*)',
  '/:path*',
  '/:path(.*)',
  '/:path(*)',
  '/:rest+',
  '/*/',
])('%s is not a route', (pattern) => {
  expect(isCatchAll(pattern)).toBe(true)
})

test.each([
  '',
  '/',
  '/files/*',
  '/files*',
  '/:id',
  '/:id(\\d+)',
  '/{id}',
  '/{id*2}',
  '/api/{*path}',
  '/*/edit',
  '/:a?',
  '/x',
])('%s is a route', (pattern) => {
  expect(isCatchAll(pattern)).toBe(false)
})
