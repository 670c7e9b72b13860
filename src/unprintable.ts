/**
 * Runs of characters that forge lines, steer a terminal or reorder what is read: C0, DEL and C1, the line separators, and
 * the marks of Unicode UAX 9. Text of others is cleared of them before people see it.
 */
export const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu
