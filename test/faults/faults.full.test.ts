/** No record is lost through the other faults of `scenarios.mjs`. */
import { testScenarios } from './scenario-tests.js'

testScenarios((isQuick) => !isQuick)
