import { testModels } from './model-suite.js'

testModels(2_000)
