module.exports = { setupFilesAfterEnv: ['./flush-logs.js'] }
