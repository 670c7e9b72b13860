/** The two frameworks that differ most; `request-scope.full.test.ts` has the others. */
import { test } from 'vitest'
import { checkShop } from './check-shop.js'

test.each(['express', 'fastify'])('%s', checkShop)
