import type { Language } from '../../src/protocol/error-translations/languages.ts';

/** A moment of a conversation, as the element's view receives it. Declared here because only pages/element.ts is compiled with a browser's types. */
export interface Moment {
  readonly attributes?: Readonly<Record<string, string>>;
  readonly language?: Language;
  readonly texts?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly consent?: string;
  /** Push to talk: the agent hears visitors only while they hold a button. */
  readonly isPush?: boolean;
  readonly captions?: readonly {
    readonly id?: string;
    readonly who: 'visitor' | 'agent';
    readonly text: string;
    readonly final: boolean;
  }[];
  readonly levels?: { readonly visitor: number; readonly agent: number };
  /** Fields of a ConversationState (src/web/element/conversation.ts). */
  readonly state?: Readonly<Record<string, unknown>>;
  /** The conversation was live until this moment. */
  readonly wasLive?: boolean;
  /** Seconds from now. */
  readonly endsIn?: number;
  readonly retryIn?: number;
}

const captions: Moment['captions'] = [
  { who: 'agent', text: 'Hello, this is the town hall. How can I help you?', final: true },
  { who: 'visitor', text: 'Are you open on Sunday?', final: true },
  { who: 'agent', text: 'We are open from Monday to Friday, nine to five. May I book an', final: false },
];
const microphones = ['MacBook Pro Microphone', 'Headset'].map((label) => ({ deviceId: label, label }));
const live = { phase: 'live', canWrite: true, canSwitch: true } as const;
const refused = (code: string, userMessage: string) => ({ code, userMessage });
const ended = (reason: string, userMessage: string): Moment => ({
  captions,
  wasLive: true,
  state: { phase: 'over', ended: { reason, code: 'X', userMessage } },
});

/** Every moment that has a look of its own, by the name under which a person finds it. */
export const moments: Readonly<Record<string, Moment>> = {
  ready: {},
  consent: {
    consent: 'Our assistant is a machine, and what you say is recorded. [Privacy](https://example.com/privacy)',
  },
  connecting: { state: { phase: 'connecting' } },
  listening: { state: live },
  'agent-speaking': { captions, levels: { visitor: 0, agent: 0.2 }, state: { ...live, isAgentSpeaking: true } },
  'agent-pausing': { captions, state: { ...live, isAgentOn: true, isWritten: true } },
  'visitor-speaking': { levels: { visitor: 0.2, agent: 0 }, state: { ...live, isVisitorSpeaking: true } },
  muted: { captions, state: { ...live, isMuted: true, microphones, microphone: 'Headset' } },
  written: { captions, state: { ...live, isWritten: true } },
  'microphone-lost': {
    captions,
    state: { ...live, isWritten: true, notice: refused('MICROPHONE_LOST', '') },
  },
  'ready-to-hold': { isPush: true },
  'to-hold': { captions, state: { ...live, isPush: true } },
  held: {
    levels: { visitor: 0.2, agent: 0 },
    state: { ...live, isPush: true, isTalking: true, isVisitorSpeaking: true },
  },
  'call-away': { captions, state: { ...live, isCallAway: true } },
  'server-away': { state: { ...live, isServerAway: true } },
  quiet: { state: { ...live, isQuiet: true } },
  'quiet-to-hold': { state: { ...live, isPush: true, isQuiet: true } },
  'quiet-written': { captions, state: { ...live, isWritten: true, isQuiet: true } },
  'warned-idle': { endsIn: 41.5, state: { ...live, isQuiet: true, warning: { reason: 'idle' } } },
  'warned-duration': { captions, endsIn: 59.5, state: { ...live, warning: { reason: 'duration' } } },
  'warned-quota': { state: { ...live, warning: { reason: 'quota' } } },
  'not-heard': { captions, state: { ...live, notice: refused('TOOL_FAILED', '') } },
  'ended-by-visitor': ended('closed_by_client', 'This conversation has ended.'),
  'ended-by-duration': ended(
    'duration_exceeded',
    'This conversation has reached its maximum length. Please start a new one.',
  ),
  'ended-by-silence': {
    wasLive: true,
    state: ended('idle_exceeded', 'It was quiet for too long, so this conversation has ended.').state ?? {},
  },
  'ended-by-operator': ended(
    'closed_by_operator',
    'This conversation was ended by the operator. Please start a new one.',
  ),
  'ended-by-key': ended('key_revoked', 'This assistant is no longer available on this website.'),
  'ended-by-provider': ended(
    'upstream_ended',
    'The voice service has ended this conversation. Please start a new one.',
  ),
  'refused-for-now': {
    retryIn: 41.5,
    state: {
      phase: 'over',
      error: refused('RATE_LIMIT_EXCEEDED', 'Too many requests. Please wait a moment and try again.'),
    },
  },
  'refused-today': {
    retryIn: 7 * 3600,
    state: {
      phase: 'over',
      error: refused('DAILY_QUOTA_EXCEEDED', "Today's limit is reached. Please come back tomorrow."),
    },
  },
  'microphone-blocked': { state: { phase: 'over', error: refused('MICROPHONE_BLOCKED', '') } },
  'no-network': { state: { phase: 'over', error: refused('NETWORK_ERROR', '') } },
};
