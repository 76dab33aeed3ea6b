import { html, type Html } from '../html.ts';
import { ERROR_CODES, type Code } from '../../protocol/errors/error-codes.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { codeBlock, json } from './code.ts';
import type { Endpoint } from './document.ts';
import { operationPath } from './groups.ts';
import { codesOf } from './operation.ts';
import { prose, sentence, titleOf } from './words.ts';

export const codes = (Object.keys(ERROR_CODES) as Code[]).toSorted(
  (one, other) => ERROR_CODES[one].status - ERROR_CODES[other].status,
);

/** The entry of a code: when it is returned, why that happens, what to do, and which operations return it. */
export function errorEntry(code: Code, endpoints: readonly Endpoint[]): Html {
  const { status, meaning, action, causes, example } = ERROR_CODES[code];
  const from = endpoints.filter(({ operation }) => codesOf(operation).includes(code));
  const { error, ...additions } = example;
  const userMessage = new Refusal(code, error, additions).wordsIn('en');
  return html`<article class="entry" id="${code}">
    <div class="told">
      <h2>
        <a href="#${code}"><code>${code}</code></a> <span class="type">${status}</span>
      </h2>
      <p class="summary">${prose(sentence(meaning))}</p>
      <h3>What to do</h3>
      <p>${prose(sentence(action))}</p>
      <h3>Why it happens</h3>
      <ul class="causes">
        ${causes.map((cause) => html`<li>${prose(cause)}</li>`)}
      </ul>
      ${answeredBy(from, endpoints.length)}
    </div>
    <div class="shown">${codeBlock(`Reply ${status}`, json({ error, code, userMessage, ...additions }))}</div>
  </article> `;
}

/** Which operations return a code; where all do, they are not listed. */
function answeredBy(from: readonly Endpoint[], all: number): Html | undefined {
  if (from.length === 0) return undefined;
  if (from.length === all) return html`<p>Every operation may answer with it.</p>`;
  const links = from.map(
    (endpoint) => html`<li><a href="${operationPath(endpoint)}">${titleOf(endpoint.operation.operationId)}</a></li>`,
  );
  return html`<details class="reply">
    <summary>${from.length === 1 ? 'One operation answers' : `${from.length} operations answer`} with it</summary>
    <ul class="codes">
      ${links}
    </ul>
  </details>`;
}
