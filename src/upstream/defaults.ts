/** What a session speaks with when neither the caller nor the agent says. */
export const DEFAULT_MODEL = 'gpt-realtime';
export const DEFAULT_VOICE = 'marin';
