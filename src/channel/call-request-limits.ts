import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import type { CallRequest } from '../protocol/call-frames.ts';
import type { ServerFrame } from '../protocol/frames.ts';
import { mustWait, Refusal } from '../protocol/refusal.ts';
import type { Language } from '../protocol/error-translations/languages.ts';
import type { CallSockets } from './call-sockets.ts';
import type { ChannelDeps } from './deps.ts';
import { refusalFrame } from './frames.ts';

/** How many of each a session may ask for in a minute over its sockets (docs/contract.md, section 7.6), and the words for them. */
const MINUTE_LIMITS = {
  say: { limit: 20, what: 'texts' },
  interrupt: { limit: 60, what: 'interruptions' },
  talk: { limit: 120, what: 'presses and releases of the button to speak' },
} as const;

const WORDS = {
  CALL_NOT_OPEN: 'No call of this session is open and heard; nothing was said.',
  INVALID_REQUEST: 'The agent of this session hears its visitor all the time: it has no turns.detect "push".',
  TOOL_UNKNOWN: 'The call waits for no answer of a tool by this id.',
} as const;

/** The attached socket that asks. */
interface CallAsker {
  readonly record: VoiceRecord;
  readonly language: Language;
  send(frame: ServerFrame): void;
}

/**
 * Passes a page's request on to its session's call, and tells the page, perhaps later, if it is refused. Requests are passed on in the order in which
 * they were made.
 */
export function askCall(
  asker: CallAsker,
  frame: CallRequest,
  { calls, deps }: { readonly calls: CallSockets; readonly deps: Pick<ChannelDeps, 'clock' | 'live' | 'events'> },
): Eventually<void> {
  const { record, language } = asker;
  const at = deps.clock.now();
  const id = 'id' in frame ? frame.id : undefined;

  function refuse(refusal: Refusal): void {
    deps.events.refused(refusal.code, `${frame.type} frame`, undefined, refusal.error, record);
    asker.send(refusalFrame(refusal, id, language));
  }

  function ask(): void {
    calls.ask(record.id, frame, (code) => {
      // An interruption that finds nobody speaking is not worth reporting.
      if (code !== null && frame.type !== 'interrupt') refuse(new Refusal(code, WORDS[code]));
    });
  }

  if (frame.type === 'tool_result') return ask();
  const { limit, what } = MINUTE_LIMITS[frame.type];
  return andThen(deps.live.windows.take(`${frame.type}:${record.id}`, limit, at), ({ allowed, resetAtMs }) => {
    if (allowed) ask();
    else
      refuse(mustWait(`More than ${limit} ${what} of a session in a minute`, resetAtMs, at, { layer: 'edge', limit }));
  });
}
