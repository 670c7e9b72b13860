import { testModels } from './model-suite.js'

testModels(Number(process.env['MODEL_RUNS'] ?? 200))
