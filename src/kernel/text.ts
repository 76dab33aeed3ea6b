const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const characters = new Map(Object.entries(entities).map(([character, entity]) => [entity, character]));

/** Makes text from strangers safe inside HTML text and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Reverses `escapeHtml`, and decodes numeric character references. */
export function unescapeHtml(html: string): string {
  return html.replaceAll(/&(?:#(\d+)|\w+);/g, (entity, code?: string) =>
    code === undefined ? (characters.get(entity) ?? entity) : String.fromCodePoint(Number(code)),
  );
}

/** The text, or its beginning and an ellipsis: what strangers send may be repeated to them and logged, but not at any length. */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** The end of a text: whole characters, at most `maxBytes` bytes. */
export function lastBytesOf(text: string, maxBytes: number): string {
  const bytes = text.length * 3 > maxBytes ? Buffer.from(text) : undefined;
  if (bytes === undefined || bytes.length <= maxBytes) return text.isWellFormed() ? text : text.toWellFormed();
  let from = bytes.length - maxBytes;
  // Skips bytes that continue a character, to begin with a whole one.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString();
}
