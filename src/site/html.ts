import { escapeHtml } from '../kernel/text.ts';

/** A piece of HTML that is safe as is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What can be inserted into HTML: another piece, several, a text, or nothing. */
export type Piece = Html | string | number | false | undefined | readonly Piece[];

/** Writes HTML: inserted texts are escaped, pieces are not. The source's indentation is dropped, as a browser ignores it. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = unindented(parts[0] ?? '');
  pieces.forEach((piece, index) => {
    text += write(piece) + unindented(parts[index + 1] ?? '');
  });
  return new Html(text);
}

/** Line breaks before tags that start a new line anyway; they are removed without leaving a space. */
const BREAKS = /\n\s*(?=<\/?(?:article|details|div|h\d|li|p|section|summary|ul)\b)/g;

function unindented(part: string): string {
  return part.includes('\n') ? part.replaceAll(BREAKS, '').replaceAll(/\n\s+/g, '\n') : part;
}

function write(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  return typeof piece === 'object' ? piece.map(write).join('') : escapeHtml(String(piece));
}
