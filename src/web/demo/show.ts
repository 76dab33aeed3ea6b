import type { MediaEvent, SessionState, Warning } from '../widget/api.ts';

/** What the example code needs from a page. */
export interface Show {
  readonly state: (state: SessionState) => void;
  readonly call: (state: MediaEvent['state']) => void;
  readonly warning: (reason: Warning['reason'], secondsLeft: number | undefined) => void;
  readonly problem: (userMessage: string) => void;
  readonly over: (userMessage: string) => void;
}
