/** The text, or its beginning and an ellipsis: what strangers send may be repeated to them and logged, but not at any length. */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
