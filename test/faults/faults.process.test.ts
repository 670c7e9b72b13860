/** No record is lost through an outage, lost replies and a kill. */
import { testScenarios } from './scenario-tests.js'

testScenarios((isQuick) => isQuick)
