/** Variation selectors: one belongs to the character before it, such as an emoji; more of them carry hidden text. */
const SELECTOR = String.raw`[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`

/**
 * Runs of characters that forge lines, steer a terminal, reorder what is read, or are invisible: control characters, the line separators,
 * and what Unicode calls default ignorable (the marks of UAX 9, zero-width spaces, U+FEFF, tags, fillers). Text from outside is cleared of
 * them before it is shown. What emoji, Arabic and Indic scripts need stays: a joiner after such a character, one variation selector.
 */
export const CONTROL_CHARACTERS = new RegExp(
  String.raw`(?:(?!${SELECTOR}|[\u200c\u200d])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]` +
    String.raw`|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Script=Arabic}])[\u200c\u200d]|(?<=${SELECTOR})${SELECTOR})+`,
  'gu',
)
