import { html, type Html } from '../html.ts';
import { codeBlock, json, paragraphs, prose, sentence } from './text.ts';
import { nameOf, type AsyncApi, type Schema, exampleOf } from './document.ts';
import { fieldList, type Direction } from './fields.ts';

export interface Frame {
  /** Sender and type, such as `client.attach`. */
  readonly id: string;
  readonly type: string;
  readonly direction: Direction;
  readonly summary: string;
  readonly payload: Schema;
  /** The ids of the frames that answer it. */
  readonly answers: readonly string[];
}

export interface Channel {
  readonly id: string;
  readonly title: string;
  readonly address: string;
  readonly description: string;
  readonly frames: readonly Frame[];
}

/** The sockets with their frames, those of clients first. */
export function channelsOf({ channels, operations, components }: AsyncApi): Channel[] {
  const all = Object.values(operations).flatMap(({ action, summary, channel, messages, reply }) =>
    messages.map(({ $ref }) => ({ action, summary, channel: nameOf(channel.$ref), id: nameOf($ref), reply })),
  );
  const summaries = new Map(all.map(({ id, summary }) => [id, summary]));
  return Object.entries(channels).map(([name, { title, address, description }]) => {
    const told = all.filter(({ channel }) => channel === name);
    const answered = told.flatMap(({ reply }) => reply?.messages.map(({ $ref }) => nameOf($ref)) ?? []);
    const answersOnly = [...new Set(answered)].filter((id) => !summaries.has(id));
    const frames = [
      ...told.map(({ id, action, summary, reply }) => ({
        id,
        summary,
        direction: action === 'receive' ? ('sent' as const) : ('received' as const),
        answers: reply?.messages.map(({ $ref }) => nameOf($ref)) ?? [],
      })),
      ...answersOnly.map((id) => ({
        id,
        summary: `The answer to ${id.slice(id.indexOf('.') + 1).replace('attached', 'attach')}`,
        direction: 'received' as const,
        answers: [],
      })),
    ].map((frame) => ({
      ...frame,
      type: frame.id.slice(frame.id.indexOf('.') + 1),
      payload: components.messages[frame.id]?.payload ?? {},
    }));
    return { id: name, title, address, description, frames };
  });
}

export function channelEntry({ id, title, address, description, frames }: Channel): Html {
  const links = frames.map(
    (frame) =>
      html`<li>
        <a href="#${frame.id}">${frame.direction === 'sent' ? 'send' : 'receive'} <code>${frame.type}</code></a>
      </li>`,
  );
  const [about = '', codes = ''] = description.split(' Close codes: ');
  const closings = [...codes.matchAll(/(\d{4}) ([^;]*?)(?:; |\.?$)/g)].map(
    ([, code = '', meaning = '']) =>
      html`<li>
        <div class="field"><code class="name">${code}</code> ${meaning}</div>
      </li>`,
  );
  return html`<article class="entry" id="${id}">
      <div class="told">
        <h2><a href="#${id}">${title}</a></h2>
        <p class="path"><span class="method ws">WS</span> <code>${address}</code></p>
        ${paragraphs(about)}
        ${
          closings.length > 0 &&
          html`<h3>Close codes</h3>
            <ul class="fields">
              ${closings}
            </ul>`
        }
      </div>
      <div class="shown">
        <h3>Frames</h3>
        <ul class="codes">
          ${links}
        </ul>
      </div>
    </article>
    ${frames.map(frameEntry)}`;
}

function frameEntry({ id, type, direction, summary, payload, answers }: Frame): Html {
  const links = answers.map(
    (answer) =>
      html`<li>
        <a href="#${answer}"><code>${answer.slice(answer.indexOf('.') + 1)}</code></a>
      </li>`,
  );
  return html`<article class="entry" id="${id}">
    <div class="told">
      <h2>
        <a href="#${id}"><code>${type}</code></a>
        <span class="type">${direction === 'sent' ? 'you send it' : 'you receive it'}</span>
      </h2>
      <p class="summary">${prose(sentence(summary))}</p>
      ${fieldList(payload, {}, direction)}
      ${
        links.length > 0 &&
        html`<h3>Answered by</h3>
          <ul class="codes">
            ${links}
          </ul>`
      }
    </div>
    <div class="shown">${codeBlock('Frame', json(exampleOf(payload, {})))}</div>
  </article> `;
}
