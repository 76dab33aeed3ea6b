import { make } from './elements.ts';
import type { Frame, Outcome, WireLog } from './wire.ts';

const MAX_ENTRIES = 60;
const arrows = { out: '→', in: '←', note: '·' } as const;
const spoken = { out: 'sent', in: 'received', note: '' } as const;
/** Marks that say the same as a status's colour, for people who cannot see that. */
const marks = { pending: '…', good: '✓', refused: '✗', failed: '✗' } as const;

type Standing = keyof typeof marks;

/** A list of what goes over the wire, newest first; the oldest entries are dropped. */
export function createWireLog(list: HTMLElement): WireLog {
  /** Adds an entry that can be expanded. */
  function add(className: string, summary: readonly Node[], ...content: readonly Node[]): HTMLElement {
    const entry = make('li', className);
    const details = make('details');
    const line = make('summary');
    line.append(...summary, make('time', '', new Date().toLocaleTimeString('en-GB')));
    details.append(line, ...content);
    entry.append(details);
    list.prepend(entry);
    while (list.children.length > MAX_ENTRIES) list.lastElementChild?.remove();
    return entry;
  }

  return {
    /** Adds one entry for the request and its reply. */
    exchange(method, path, body): Outcome {
      const startedMs = performance.now();
      const status = make('span', 'status');
      const took = make('span', 'took');
      const why = make('span', 'why');
      const reply = make('pre', '', 'Nothing yet.');
      const title = make('span', 'title');
      title.append(make('b', '', method), ` ${path}`);
      const entry = add(
        'exchange',
        [title, new Text(' '), status, new Text(' '), took, new Text(' '), why, new Text(' ')],
        make('p', '', 'Request'),
        make('pre', '', body === '' ? 'Empty.' : body),
        make('p', '', 'Reply'),
        reply,
      );

      function become(standing: Standing, text: string): void {
        entry.dataset['standing'] = standing;
        status.textContent = `${marks[standing]} ${text}`;
        if (standing !== 'pending') took.textContent = `${Math.round(performance.now() - startedMs)} ms`;
      }

      become('pending', 'pending');
      return {
        answered: (code) => become(code < 400 ? 'good' : 'refused', String(code)),
        read: (text) => (reply.textContent = text === '' ? 'Empty.' : text),
        failed(reason) {
          become('failed', 'failed');
          why.textContent = reason;
          reply.textContent = 'None.';
        },
      };
    },
    frame({ direction, title, body }: Frame): void {
      const arrow = make('span', 'arrow', arrows[direction]);
      arrow.ariaHidden = 'true';
      const text = make('span', 'title');
      text.append(arrow, make('span', 'unseen', spoken[direction]), ` ${title}`);
      const kind = make('span', 'kind', 'socket');
      add(
        `frame ${direction}`,
        [text, new Text(' '), kind, new Text(' ')],
        make('pre', '', body === '' ? 'Empty.' : body),
      );
    },
  };
}
