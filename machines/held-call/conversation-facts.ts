// What is known of the conversation of a call beside its responses.

/** The response that we want of the conversation, which has one at a time. */
export interface ResponseWish {
  /** It waits for the one that runs. `instructions`: for it alone; null for those of the session. */
  readonly wanted: { readonly instructions: string | null } | null;
  /** The provider was asked for one, and has not said that it began. */
  readonly isAsked: boolean;
  /** It was asked for the last one as the sideband was lost: nobody knows whether it has heard that. */
  readonly isInDoubt: boolean;
}

/** How long nobody has said anything. */
export interface Silence {
  /** Since when; null while nobody hears the call. */
  readonly sinceMs: number | null;
  readonly isVisitorSpeaking: boolean;
  readonly isAgentSpeaking: boolean;
  /** The agent waits for a tool. */
  readonly isToolCalled: boolean;
  /** The agent has asked whether somebody is there, and the visitor has said nothing since. */
  readonly isAsked: boolean;
}

/** The last response of a session whose end a tool has asked for, and how far it is. */
export interface Ending {
  /** Null until it began. */
  readonly responseId: string | null;
  readonly isDone: boolean;
  /** The call is to be closed now. */
  readonly isOver: boolean;
  /** It begins by then or never, however many others are first. */
  readonly beginsByMs: number;
  /** It is heard to its end by then or never, whatever else the agent says; Infinity until it is done. */
  readonly heardByMs: number;
  /** From then on nobody waits for its next step. */
  readonly untilMs: number;
}
