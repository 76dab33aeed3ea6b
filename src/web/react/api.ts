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

/** Read at each `start`. */
export interface UseSwitchboardOptions extends ConnectOptions {
  /** By default true; with false, the session is held without a call. */
  readonly audio?: NonNullable<ConnectOptions['audio']>;
  /** How the call is joined. */
  readonly call?: AudioOptions;
}

/** What a component shows. */
export interface Shown {
  /** The last one that was started, also when it has ended. */
  readonly session: Session | undefined;
  /** `none`: nothing was started, or it came to nothing, see `error`. `opening`: it is under way. */
  readonly state: 'none' | 'opening' | SessionState;
  /** Undefined where there is no call. A lost call ends its session. */
  readonly media: MediaEvent['state'] | undefined;
  /** Why there is no session, or no call; or a trouble that the session goes on with until the next `beat`. Show its `userMessage`. */
  readonly error: SwitchboardError | undefined;
  /** The end is near. */
  readonly warning: Warning | undefined;
  /** All turns, as they began. */
  readonly transcript: readonly Transcript[];
  readonly speaking: Speaking;
  /** Also before a session, and for the next. */
  readonly muted: boolean;
}

export interface UseSwitchboard extends Shown {
  /** Starts a session and its call, unless one is there. Call it from a click. Failures are in `error`; resolves when all is open or over. */
  readonly start: () => Promise<void>;
  /** Ends it; leaving the component does it too. */
  readonly end: () => Promise<void>;
  readonly mute: (on?: boolean) => void;
  /** Says something to the agent in text. @throws SwitchboardError CALL_LOST (there is no call), PROVIDER_UNSUPPORTED */
  readonly send: (text: string) => void;
  /** How loud both sides are at present: to be drawn, and no state, because it changes ten times a second. */
  readonly levels: { readonly current: Levels };
}

/** Holds one session at a time. `start`, `end`, `mute`, `send` and `levels` stay the same for the life of the component. */
export declare function useSwitchboard(options: UseSwitchboardOptions): UseSwitchboard;

/** `<switchboard-widget>` in JSX. React 18 sets its attributes, and knows no events of custom elements. */
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'switchboard-widget': WithKey<TagAttributes<SwitchboardWidgetElement>, SwitchboardWidgetElement> &
        SwitchboardWidgetAttributes &
        SwitchboardWidgetHandlers;
    }
  }
}
