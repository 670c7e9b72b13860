import './worker-files.js'
import './target.js'
