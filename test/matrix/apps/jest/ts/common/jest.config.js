module.exports = { setupFilesAfterEnv: ['./flush-logs.ts'] }
