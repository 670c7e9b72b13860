import { logger } from './logger.js'

test('logs 1,000 records', () => {
  for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'from a test')
  expect(logger.level).toBe('info')
})
