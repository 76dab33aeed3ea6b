// Providers whose calls are rooms, which pages join with a token of ours.

/** What is said of a room and of who joins it. */
export interface RoomWish {
  /** The agent that the provider sends there; undefined where it sends those that ask for every room. */
  readonly agentName?: string | undefined;
  /** What the agent is told, as a text. */
  readonly agentMetadata?: string | undefined;
  /** How the visitor is called there, and what others read of them. */
  readonly name?: string | undefined;
  readonly metadata?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** What became of a room, as its provider tells: `other` is what changes nothing. */
export interface RoomEvent {
  readonly type: 'started' | 'joined' | 'left' | 'finished' | 'other';
  /** The room's name; empty where it is of none. */
  readonly room: string;
  /** Who joined or left; undefined where it is of nobody. */
  readonly identity: string | undefined;
}
