/** The other faults of `scenarios.mjs` stay within their limits of lost and duplicated records. */
import { testScenarios } from './scenario-tests.js'

testScenarios((isQuick) => !isQuick)
