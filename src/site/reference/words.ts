import { html, type Html } from '../html.ts';

/** What is written in descriptions: code stands between backticks. */
export function prose(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** The name of an operation as people say it: `createSession` is Create session. */
export function titleOf(operationId: string): string {
  const words = operationId.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A sentence of what begins in lower case, as the rows of a table do. */
export function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

const FULL = 220;

/** A long description in paragraphs: nobody reads twenty lines in one. */
export function paragraphs(text: string): Html[] {
  const told: string[] = [];
  for (const one of text.split(/(?<=[.!?]) (?=[A-Z`])/)) {
    const last = told.at(-1);
    if (last === undefined || last.length + one.length > FULL) told.push(one);
    else told[told.length - 1] = `${last} ${one}`;
  }
  return told.map((part) => html`<p>${prose(part)}</p>`);
}
