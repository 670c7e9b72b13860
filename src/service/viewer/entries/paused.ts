/** Whether the list of entries is paused; also while another view is shown. */
import { Observable } from '../observable.js'

export const paused = new Observable(false)
