import { html, Html } from '../html.ts';

/** The text of a description as HTML: code is between backticks. */
export function prose(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** An operation's id in words: `createSession` is Create session. */
export function titleOf(operationId: string): string {
  const words = operationId.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Makes a sentence of a text that begins in lower case, as table rows do. */
export function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

const FULL = 220;

/** Splits a long description into paragraphs. */
export function paragraphs(text: string): Html[] {
  const told: string[] = [];
  for (const one of text.split(/(?<=[.!?]) (?=[A-Z`])/)) {
    const last = told.at(-1);
    if (last === undefined || last.length + one.length > FULL) told.push(one);
    else told[told.length - 1] = `${last} ${one}`;
  }
  return told.map((part) => html`<p>${prose(part)}</p>`);
}

/** Highlights comments, strings and keywords, and tells names of fields from strings. One pattern is enough for the examples. */
const tokens =
  /(?<comment>(?:^|(?<=\s))(?:\/\/|# ).*$)|(?<key>"[^"\\]*"(?=\s*:))|(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?<word>(?<![\w.$-])(?:const|await|async|new|if|throw|import|from|with|as|def|print|return|true|false|null|True|False|None|curl)(?![\w-]))/gm;

function highlight(code: string): Html {
  const pieces: Html[] = [];
  let from = 0;
  for (const match of code.matchAll(tokens)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    if (kind === 'key') continue;
    pieces.push(html`${written(code.slice(from, match.index))}<span class="${kind}">${written(match[0])}</span>`);
    from = match.index + match[0].length;
  }
  return html`${pieces}${written(code.slice(from))}`;
}

/** Escapes text between tags, where quotes need no escape: a tenth of the examples is quotes. */
function written(text: string): Html {
  return new Html(text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
}

/** A titled block of code; the page's script adds a copy button. @param kind by which the page shows the chosen language */
export function codeBlock(title: string, code: string, kind = ''): Html {
  return html`<div class="code${kind && ` only-${kind}`}">
    <div class="code-title">${title}</div>
    <pre tabindex="0" aria-label="${title}">${highlight(code)}</pre>
  </div>`;
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
