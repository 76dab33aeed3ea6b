import { escapeHtml } from '../kernel/text.ts';

/** A piece of a page that is safe as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in a piece of HTML: another piece, several, a text, or nothing. */
export type Piece = Html | string | number | false | undefined | readonly Piece[];

/** Writes HTML: every text that is put in is escaped, pieces are not. The source's indentation is left out, as a browser does. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = unindented(parts[0] ?? '');
  pieces.forEach((piece, index) => {
    text += write(piece) + unindented(parts[index + 1] ?? '');
  });
  return new Html(text);
}

/** Before what begins a line of its own anyway nothing is left. */
const BREAKS = /\n\s*(?=<\/?(?:article|details|div|h\d|li|p|section|summary|ul)\b)/g;

function unindented(part: string): string {
  return part.includes('\n') ? part.replaceAll(BREAKS, '').replaceAll(/\n\s+/g, '\n') : part;
}

function write(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  return typeof piece === 'object' ? piece.map(write).join('') : escapeHtml(String(piece));
}
