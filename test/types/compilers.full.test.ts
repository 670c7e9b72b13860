/** The package's declarations in the last versions of TypeScript's majors between the oldest and the newest. */
import { testCompilers } from './compile.js'

testCompilers('typescript-5.9', 'typescript-6')
