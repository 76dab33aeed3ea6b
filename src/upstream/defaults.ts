/** What a session speaks with when neither the caller nor the agent says. */
export const defaultModel = 'gpt-realtime';
export const defaultVoice = 'marin';
