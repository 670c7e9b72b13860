import { test } from 'vitest'
import { checkShop } from './check-shop.js'

test.each(['koa', 'hono', 'nest'])('%s', checkShop)
