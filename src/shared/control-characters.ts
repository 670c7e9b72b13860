/** Variation selectors: a single one belongs to the preceding character, such as an emoji; several may encode hidden text. */
const SELECTOR = String.raw`[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`

/**
 * Runs of characters that can forge lines, control a terminal, reorder text or hide it: control characters, line
 * separators and Unicode's default ignorable characters (the marks of UAX 9, zero-width spaces, U+FEFF, tags, fillers).
 * They are removed from untrusted text before it is shown. Characters that emoji, Arabic and Indic scripts need are
 * kept: one joiner after such a character, and a single variation selector.
 */
export const CONTROL_CHARACTERS = new RegExp(
  String.raw`(?:(?!${SELECTOR}|[\u200c\u200d])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]` +
    String.raw`|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Script=Arabic}])[\u200c\u200d]|(?<=${SELECTOR})${SELECTOR})+`,
  'gu',
)
