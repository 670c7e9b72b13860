/** The package's declarations in the oldest supported TypeScript and in the newest; the full suite has those between. */
import { testCompilers } from './compile.js'

testCompilers('typescript-5.4', 'typescript')
