import type { Levels, Transcript } from '../widget/api.ts';
import { createCaptions } from './captions.ts';
import type { Conversation, ConversationState } from './conversation.ts';
import { icon, linked, make, part, say } from './dom.ts';
import { icons } from './icons.ts';
import { createOrb } from './orb.ts';
import { messageOf, retryOf, statusOf, warningOf } from './status.ts';
import type { MainWords, Status } from './translations/message-types.ts';

/** What the visitor can ask for. */
export interface Wishes extends Pick<Conversation, 'mute' | 'send' | 'interrupt' | 'talk' | 'use' | 'write'> {
  readonly open: () => void;
  readonly close: () => void;
  readonly start: () => void;
  readonly end: () => void;
  readonly captions: (on: boolean) => void;
  /** Rates the conversation. */
  readonly rate: (value: number) => Promise<unknown>;
}

export interface Look {
  readonly state: ConversationState;
  readonly words: MainWords;
  readonly language: string;
  /** `rtl`, or empty for the page's own direction. */
  readonly direction: string;
  readonly isOpen: boolean;
  readonly isInline: boolean;
  readonly hasCaptions: boolean;
  /** Whether the visitor must be told that they speak with an AI. */
  readonly tellsAi: boolean;
  /** Whether the agent uses push-to-talk. */
  readonly isPush: boolean;
  /** The text that the visitor has still to agree to; empty if none. */
  readonly consent: string;
}

/** Where parts that are mounted later are inserted. */
interface Places {
  readonly captions: HTMLElement;
  readonly toggle: HTMLElement;
  readonly footer: HTMLElement;
  readonly row: HTMLElement;
  readonly end: HTMLElement;
  readonly form: HTMLElement;
}

/** Adds parts to the view. @returns a function that updates them */
export type Mount = (
  places: Places,
  wishes: Wishes & {
    /** Announces words to screen readers. */
    readonly tell: (words: string) => void;
  },
) => (look: Look) => void;

export interface View {
  readonly element: HTMLElement;
  readonly show: (look: Look) => void;
  /** Updates only what changes with time. */
  readonly tick: () => void;
  readonly level: (levels: Levels) => void;
  readonly caption: (transcript: Transcript) => void;
  /** Puts a text that was not said back into the field, before what was written since. */
  readonly unsaid: (text: string) => void;
  readonly clear: () => void;
  /** Adds parts to the view, once. */
  readonly mount: (add: Mount) => void;
}

type Hints = MainWords['hint'] & { readonly [status: string]: string | undefined };

/** The longest text that Switchboard takes, in characters. */
const MAX_TEXT = 2000;

export function createView(wishes: Wishes): View {
  let look: Look;
  let showMore: ((look: Look) => void) | undefined;
  const orb = createOrb();
  const captions = createCaptions();

  const launcherText = make('span');
  const launcherMore = make('span', { class: 'sr' });
  const launcher = button('launcher', 'voice', launcherText, launcherMore);
  launcher.ariaHasPopup = 'dialog';
  const title = part('div', 'title');
  const ai = part('span', 'ai');
  const toggle = button('captions-toggle', 'captions');
  const close = button('close', 'close');
  const status = part('p', 'status');
  const hint = part('p', 'hint');
  const [warning, warningText] = note('warning');
  const [message, messageText, retryText] = note('message');
  const disclosure = part('p', 'disclosure');
  const consent = part('p', 'consent');
  const startText = make('span');
  const start = button('start', undefined, startText);
  const muteText = make('span');
  const mute = button('mute', undefined, muteText);
  const endText = make('span');
  const end = button('end', 'end', endText);
  const row = part('div', 'row', mute, end);
  const text = part('input', 'text');
  const send = button('send', 'send');
  // It comes before the send button, so that the button under a finger does not change when it disappears.
  const interrupt = button('interrupt', 'interrupt');
  const form = part('form', 'field', text, interrupt, send);
  text.autocomplete = 'off';
  text.maxLength = MAX_TEXT;
  send.type = 'submit';

  const footer = part('footer', 'footer', disclosure, consent, start, row, form);
  const panel = part(
    'div',
    'panel',
    part('header', 'header', title, ai, toggle, close),
    part('div', 'stage', orb.element, make('div', {}, status, hint)),
    part('div', 'body', captions.element, warning, message),
    footer,
  );
  panel.tabIndex = -1;
  // It is outside the panel, so that announcements are heard while the panel is closed.
  const announcer = make('div', { class: 'sr', role: 'status' });
  const element = make('section', { hidden: '' }, launcher, panel, announcer);

  launcher.addEventListener('click', wishes.open);
  close.addEventListener('click', wishes.close);
  start.addEventListener('click', wishes.start);
  interrupt.addEventListener('click', wishes.interrupt);
  end.addEventListener('click', wishes.end);
  mute.addEventListener('click', () => wishes.mute(!look.state.isMuted));
  toggle.addEventListener('click', () => wishes.captions(!look.hasCaptions));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const said = text.value.trim();
    text.value = '';
    if (said !== '') wishes.send(said);
  });
  panel.addEventListener('keydown', (event) => {
    // Ignores the Escape that cancels the composition of a word, as in Japanese.
    if (event.key !== 'Escape' || event.isComposing || look.isInline) return;
    event.stopPropagation();
    wishes.close();
  });

  function tick(): void {
    const { state, words, language } = look;
    const now = Date.now();
    const retry = retryOf(state, words, language, now);
    say(warningText, warningOf(state, words, language, now));
    say(retryText, retry);
    start.disabled = retry !== '';
  }

  function tell(words: string): void {
    say(announcer, words);
  }

  /** Announces states, ends and each warning once to screen readers, but not each turn of the conversation. */
  function announce(before: Look | undefined): void {
    const { state, words } = look;
    const now = statusOf(state);
    if (state.warning !== undefined && state.warning !== before?.state.warning)
      return say(announcer, warningText.textContent ?? '');
    if (messageText.textContent) return say(announcer, `${messageText.textContent} ${retryText.textContent}`);
    if (now === 'speaking' || (before !== undefined && statusOf(before.state) === now)) return;
    const told = now === 'connecting' ? `${disclosure.textContent} ` : '';
    say(announcer, now === 'ready' ? '' : told + words.status[now]);
  }

  function hintOf(now: Status): string {
    const { state, words, isPush } = look;
    if (now === 'ready' && isPush) return words.hint.readyToHold;
    if (now === 'idle' && state.isWritten) return words.hint.idleWritten;
    if (now === 'idle' && state.isPush) return words.status.waiting;
    return state.isWritten && now === 'connecting' ? '' : ((words.hint as Hints)[now] ?? '');
  }

  /**
   * Where the focus goes when the focused element disappears: never to a button that undoes what was just done, because a key pressed twice,
   * or held, would do both.
   */
  function fallbackFocus(isOpened: boolean): HTMLElement {
    if (panel.hidden) return launcher;
    return isOpened && !start.hidden && !start.disabled ? start : panel;
  }

  function show(next: Look): void {
    const before: Look | undefined = look;
    look = next;
    const { state, words, language, direction, isOpen, isInline, hasCaptions } = look;
    const { phase, isMuted, isVisitorSpeaking, isAgentSpeaking } = state;
    const now = statusOf(state);
    const isOn = phase === 'connecting' || phase === 'live';
    const focused = (element.getRootNode() as ShadowRoot).activeElement;

    element.hidden = false;
    element.lang = language;
    element.dir = direction;
    element.className = `${now} ${isOn ? 'live' : ''} ${hasCaptions && phase !== 'ready' ? 'written' : ''}`;
    element.ariaLabel = words.title;
    launcher.hidden = isInline || isOpen;
    panel.hidden = !isInline && !isOpen;
    close.hidden = isInline;
    panel.role = isInline ? null : 'dialog';
    panel.ariaLabel = isInline ? null : look.tellsAi ? `${words.title} (${words.ai})` : words.title;

    say(launcherText, isOn ? words.status[now] : words.launcher);
    say(launcherMore, isOn ? words.open : '');
    say(title, words.title);
    say(ai, look.tellsAi ? words.ai : '');
    say(disclosure, look.tellsAi && phase !== 'live' ? words.tellAi : '');
    name(close, words.close);
    name(toggle, words.captions);
    toggle.ariaPressed = String(hasCaptions);
    say(status, words.status[now]);
    say(hint, hintOf(now));
    orb.element.classList.toggle('visitor', isVisitorSpeaking && !isMuted);
    orb.element.classList.toggle('agent', isAgentSpeaking);
    if (!isOn) orb.show({ visitor: 0, agent: 0 });

    captions.element.hidden = !hasCaptions || phase === 'ready' || phase === 'connecting' || captions.isEmpty();
    captions.rename(words);
    tick();
    warning.hidden = !isOn || state.warning === undefined;
    say(messageText, messageOf(state, words));
    message.hidden = messageText.textContent === '';
    message.classList.toggle('failure', (state.error ?? state.notice) !== undefined);

    if (look.consent !== before?.consent) consent.replaceChildren(...linked(look.consent));
    consent.hidden = isOn;
    start.hidden = isOn;
    const beginning = now === 'over' ? words.again : now === 'failed' ? words.tryAgain : words.start;
    say(startText, look.consent === '' ? beginning : words.agree);
    row.hidden = !isOn;
    mute.hidden = phase === 'connecting' || state.isWritten || (state.isPush && !isMuted);
    say(muteText, isMuted ? words.unmute : words.mute);
    mute.classList.toggle('on', isMuted);
    muteText.previousSibling?.remove();
    muteText.before(icon(isMuted ? icons.muted : icons.microphone));
    say(endText, phase === 'connecting' ? words.cancel : words.end);
    form.hidden = phase !== 'live' || !state.canWrite;
    text.placeholder = words.write;
    text.ariaLabel = words.write;
    name(send, words.send);
    interrupt.hidden = !isAgentSpeaking && !state.isAgentOn;
    name(interrupt, words.interrupt);
    showMore?.(look);
    announce(before);
    const isOpened = before !== undefined && !before.isOpen && isOpen;
    // A visitor who interrupted the agent wants to say something.
    if (focused === interrupt && interrupt.hidden && !form.hidden) text.focus();
    else if (isOpened || focused?.closest('[hidden]')) fallbackFocus(isOpened).focus();
    // A visitor who waited for the connection in order to write can begin.
    if (before?.state.phase === 'connecting' && state.isWritten && focused === panel && !form.hidden) text.focus();
  }

  return {
    element,
    show,
    tick,
    level: orb.show,
    caption(transcript) {
      captions.add(transcript, look.words);
      if (captions.element.hidden !== captions.isEmpty()) show(look);
    },
    unsaid: (said) => (text.value = `${said} ${text.value}`.trim()),
    clear: captions.clear,
    mount(add) {
      showMore ??= add({ captions: captions.element, toggle, footer, row, end, form }, { ...wishes, tell });
      show(look);
    },
  };
}

function button(what: string, drawing: keyof typeof icons | undefined, ...children: Node[]): HTMLButtonElement {
  const drawn = drawing === undefined ? [] : [icon(icons[drawing])];
  const made = part('button', what, ...drawn, ...children);
  made.type = 'button';
  return made;
}

/** Gives a button without text an accessible name and a tooltip. */
function name(button: HTMLButtonElement, words: string): void {
  button.ariaLabel = words;
  button.title = words;
}

function note(what: 'warning' | 'message'): [HTMLElement, HTMLElement, HTMLElement] {
  const [first, second] = [make('p'), make('p')];
  const drawn = icon(icons.warning);
  return [make('div', { class: `note ${what}`, part: what }, drawn, make('div', {}, first, second)), first, second];
}
