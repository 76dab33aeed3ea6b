import { html, type Html } from '../html.ts';

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
