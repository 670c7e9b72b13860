export default { setupFilesAfterEnv: ['./flush-logs.js'], transform: {} }
