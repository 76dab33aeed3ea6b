// Providers whose calls are rooms, which pages join with a token of ours.

/** Options for a room and for who joins it. */
export interface RoomWish {
  /** The agent that the provider sends to the room; undefined sends those registered for every room. */
  readonly agentName?: string | undefined;
  /** What the agent is told, as text. */
  readonly agentMetadata?: string | undefined;
  /** The visitor's name in the room, and what others can read about them. */
  readonly name?: string | undefined;
  readonly metadata?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** What happened to a room, as its provider reports; `other` changes nothing. */
export interface RoomEvent {
  readonly type: 'started' | 'joined' | 'left' | 'finished' | 'other';
  /** The room's name; empty where the event is not about a room. */
  readonly room: string;
  /** Who joined or left; undefined where the event is not about a participant. */
  readonly identity: string | undefined;
}
