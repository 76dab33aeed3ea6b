/** The provider's own SDK, for pages of tests. */
export { OpenAIRealtimeWebRTC } from '@openai/agents-realtime';
