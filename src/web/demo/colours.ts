/** The parts of HTML and JavaScript to colour; the groups are classes of ../shared/frame.css. One pattern is enough for this page's code. */
const tokens =
  /(?<comment>\/\*[^]*?\*\/|(?:^|(?<=\s))\/\/.*$)|(?<text>"[^"]*"|'[^']*'|`[^`]*`)|(?<word>(?<=<\/?)[\w-]+|\b(?:const|let|await|async|function|return|if|try|catch|import|from|export|undefined)\b)|(?<key>[\w-]+(?=="))/gm;

/** Code as DOM nodes, with its parts coloured. */
export function coloured(code: string): Node[] {
  const pieces: Node[] = [];
  let from = 0;
  for (const match of code.matchAll(tokens)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    const piece = document.createElement('span');
    piece.className = kind;
    piece.textContent = match[0];
    pieces.push(new Text(code.slice(from, match.index)), piece);
    from = match.index + match[0].length;
  }
  return [...pieces, new Text(code.slice(from))];
}
