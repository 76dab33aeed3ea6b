/**
 * A voice session in a React component.
 *
 *     const { media, error, transcript, start, end } = useSwitchboard({ baseUrl: 'https://voice.example.com', widgetKey: 'w_…' });
 */

import type { DetailedHTMLProps as WithKey, HTMLAttributes as TagAttributes } from 'react';
import type {
  SwitchboardWidgetAttributes,
  SwitchboardWidgetElement,
  SwitchboardWidgetHandlers,
} from '../element/api.ts';
import type {
  AudioOptions,
  ConnectOptions,
  Levels,
  MediaEvent,
  Session,
  SessionState,
  Speaking,
  SwitchboardError,
  Transcript,
  Warning,
} from '../widget/api.ts';

/** The options, read at each `start`. */
export interface UseSwitchboardOptions extends ConnectOptions {
  /** Whether to join a call; true by default. With false, the session is held without a call. */
  readonly audio?: NonNullable<ConnectOptions['audio']>;
  /** Options of the call. */
  readonly call?: AudioOptions;
}

/** What a component shows. */
export interface Shown {
  /** The session that was started last, even if it has ended. */
  readonly session: Session | undefined;
  /** `none`: no session was started, or starting it failed (see `error`). `opening`: it is being started. */
  readonly state: 'none' | 'opening' | SessionState;
  /** The state of the call; undefined if there is none. Losing the call ends its session. */
  readonly media: MediaEvent['state'] | undefined;
  /** Why there is no session or no call, or a problem that the session survives until the next `beat`. Show its `userMessage`. */
  readonly error: SwitchboardError | undefined;
  /** Set when the session is about to end. */
  readonly warning: Warning | undefined;
  /** All turns, in the order in which they began. */
  readonly transcript: readonly Transcript[];
  readonly speaking: Speaking;
  /** Can be set before a session starts, and is kept for the next one. */
  readonly muted: boolean;
}

export interface UseSwitchboard extends Shown {
  /** Starts a session and its call, unless one is live. Call it from a click. Resolves once all is open or over; failures are in `error`. */
  readonly start: () => Promise<void>;
  /** Ends the session. Unmounting the component does too. */
  readonly end: () => Promise<void>;
  readonly mute: (on?: boolean) => void;
  /** Sends the agent a text. @throws SwitchboardError CALL_LOST (there is no call), NETWORK_ERROR */
  readonly send: (text: string) => void;
  /** How loud both sides are right now, for drawing. A ref and not state, because it changes ten times a second. */
  readonly levels: { readonly current: Levels };
}

/** Holds one session at a time. `start`, `end`, `mute`, `send` and `levels` keep their identity for the life of the component. */
export declare function useSwitchboard(options: UseSwitchboardOptions): UseSwitchboard;

/** `<switchboard-widget>` in JSX. React 18 sets its attributes but does not support events of custom elements. */
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'switchboard-widget': WithKey<TagAttributes<SwitchboardWidgetElement>, SwitchboardWidgetElement> &
        SwitchboardWidgetAttributes &
        SwitchboardWidgetHandlers;
    }
  }
}
