import { RIGHT_TO_LEFT, type Language } from '../../../src/protocol/error-translations/languages.ts';
import { atRest, type ConversationState } from '../../../src/web/element/conversation.ts';
import { applyStyles } from '../../../src/web/element/styles.ts';
import { mountTalk } from '../../../src/web/element/in-call/main.ts';
import { createView } from '../../../src/web/element/view.ts';
import { en } from '../../../src/web/element/translations/en.ts';
import { words as ar } from '../../../src/web/element/translations/ar.ts';
import { words as de } from '../../../src/web/element/translations/de.ts';
import { words as es } from '../../../src/web/element/translations/es.ts';
import { words as fr } from '../../../src/web/element/translations/fr.ts';
import { words as it } from '../../../src/web/element/translations/it.ts';
import { words as ja } from '../../../src/web/element/translations/ja.ts';
import { words as ko } from '../../../src/web/element/translations/ko.ts';
import { words as nl } from '../../../src/web/element/translations/nl.ts';
import { words as pl } from '../../../src/web/element/translations/pl.ts';
import { words as pt } from '../../../src/web/element/translations/pt.ts';
import { words as zh } from '../../../src/web/element/translations/zh.ts';
import { withTexts, type MainWords } from '../../../src/web/element/translations/message-types.ts';
import type { Moment } from '../element-moments.ts';

/** How a test tells the page what to show. */
declare global {
  interface Window {
    showElements(...moments: readonly Moment[]): void;
  }
}

const languages: Readonly<Record<Language, MainWords>> = { en, de, fr, es, pt, it, nl, pl, ja, zh, ko, ar };

// Time stands still, so that a countdown shows the same however busy the machine is.
const now = Date.now();
Date.now = () => now;

const soon = (seconds?: number): number | undefined => (seconds === undefined ? undefined : now + seconds * 1000);
const nothing = (): void => undefined;

/** Draws the element's view and styles under the element's tag name, without the code that decides what to show when. */
function draw(moment: Moment): HTMLElement {
  const { attributes = {}, language = 'en', texts = {}, consent = '', captions = [], levels, endsIn, retryIn } = moment;
  const host = document.createElement('switchboard-widget');
  for (const [name, value] of Object.entries(attributes)) host.setAttribute(name, value);
  const root = host.attachShadow({ mode: 'open' });
  const end = (): void => host.toggleAttribute('ended', true) as unknown as void;
  const wishes = { open: nothing, close: nothing, start: nothing, end };
  const more = {
    mute: nothing,
    captions: nothing,
    send: nothing,
    interrupt: nothing,
    talk: nothing,
    use: nothing,
    write: nothing,
    rate: async () => nothing(),
  };
  const view = createView({ ...wishes, ...more });
  root.append(view.element);
  applyStyles(root, '/');
  const given: ConversationState = { ...atRest, ...moment.state, retryAtMs: soon(retryIn) };
  const warning = given.warning && { ...given.warning, endsAtMs: soon(endsIn) };
  const look = {
    state: { ...given, warning },
    words: withTexts(languages[language], texts),
    language,
    direction: RIGHT_TO_LEFT.includes(language) ? 'rtl' : '',
    isOpen: host.hasAttribute('open'),
    isInline: attributes['placement'] === 'inline',
    hasCaptions: true,
    tellsAi: true,
    isPush: moment.isPush === true,
    consent,
  } as const;
  view.show(look);
  view.mount(mountTalk);
  if (moment.wasLive === true) {
    view.show({ ...look, state: { ...look.state, phase: 'live' } });
    view.show(look);
  }
  captions.forEach((caption, at) => view.caption({ id: String(at), ...caption }));
  if (levels !== undefined) view.level(levels);
  return host;
}

window.showElements = (...moments) => document.querySelector('#shown')?.replaceChildren(...moments.map(draw));
