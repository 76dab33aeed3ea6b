// What is known about a call's conversation besides its responses.

/** The response that we want from the conversation, which has one at a time. */
export interface ResponseWish {
  /** Waits for the running response to end. `instructions`: for this response only; null for the session's. */
  readonly wanted: { readonly instructions: string | null } | null;
  /** The provider was asked for one, and has not said that it began. */
  readonly isAsked: boolean;
  /** The last one was asked for when the sideband was lost: nobody knows whether the provider received that. */
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

/** The last response of a session that a tool has asked to end, and how far it has come. */
export interface Ending {
  /** Null until it began. */
  readonly responseId: string | null;
  readonly isDone: boolean;
  /** The call is to be closed now. */
  readonly isOver: boolean;
  /** It begins by then or never, even if other responses come first. */
  readonly beginsByMs: number;
  /** It is heard to its end by then or never, whatever else the agent says; Infinity until it is done. */
  readonly heardByMs: number;
  /** Deadline of its next step. */
  readonly untilMs: number;
}
