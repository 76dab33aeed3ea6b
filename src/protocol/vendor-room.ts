import { z } from 'zod';
import { string, text } from './field-types.ts';

/** The longest text about a visitor, in characters: the token travels in a URL. */
const MAX_TEXT = 2048;
const MAX_ATTRIBUTES = 16;

const said = (description: string, example: string) =>
  z
    .string()
    .max(MAX_TEXT)
    .optional()
    .meta({ description, examples: [example] });

const agentDispatch = z
  .strictObject({
    agent_name: text(128, 'The `agentName` of the tenant’s agent to use', 'clerk').optional(),
    metadata: said('Metadata that the agent receives', '{"language":"de"}'),
  })
  .meta({ description: 'An agent to send to the room', examples: [{ agent_name: 'clerk' }] });

/** The body of POST /v1/livekit/token, as LiveKit's own clients send it (docs/contract.md, section 5.17). Unknown fields are refused. */
export const roomTokenRequest = z
  .strictObject({
    room_name: string('Always refused: each session has its own room', 'my-room').optional(),
    participant_identity: string('Always refused: the session determines the identity', 'user-17').optional(),
    participant_name: text(128, 'The visitor’s name in the room', 'Ada').optional(),
    participant_metadata: said('Metadata about the visitor that others in the room can read', '{"plan":"free"}'),
    participant_attributes: z
      .record(text(64), z.string().max(256))
      .refine((all) => Object.keys(all).length <= MAX_ATTRIBUTES, `must be at most ${MAX_ATTRIBUTES} attributes`)
      .optional()
      .meta({ description: 'Such metadata as names and values', examples: [{ language: 'de' }] }),
    room_config: z
      .strictObject({
        agents: z.array(agentDispatch).max(1, 'must be one agent').optional().describe('At most one agent'),
      })
      .optional()
      .meta({ description: 'The agent to use', examples: [{ agents: [{ agent_name: 'clerk' }] }] }),
  })
  .optional();

export type RoomTokenRequest = z.infer<typeof roomTokenRequest>;

/** The reply of POST /v1/livekit/token. */
export const roomTokenReply = z.object({
  server_url: string('The address that the page connects to', 'wss://example.livekit.cloud'),
  participant_token: string('The token with which the page joins the room', 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.x'),
});

export type RoomTokenReply = z.infer<typeof roomTokenReply>;
