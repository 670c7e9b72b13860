/** Whether the list of entries is paused. Shared, because the list stays paused while another view is shown. */
import { Observable } from '../observable.js'

export const paused = new Observable(false)
