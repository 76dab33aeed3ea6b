/**
 * Names of span attributes, in one place. Names of `gen_ai` follow OpenTelemetry's conventions for generative AI, which may change
 * (docs/operations.md, Traces). No attribute holds spoken words, addresses, header values, ids that prove a caller, or a provider's call id.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agent: 'gen_ai.agent.id',
  session: 'gen_ai.conversation.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
  error: 'error.type',
  status: 'http.response.status_code',
  resends: 'http.request.resend_count',
  requestId: 'switchboard.request_id',
  tenant: 'switchboard.tenant',
  key: 'switchboard.key',
  caller: 'switchboard.caller',
  agentVersion: 'switchboard.agent_version',
  endReason: 'switchboard.end_reason',
  tokens: 'switchboard.tokens',
  microDollars: 'switchboard.micro_dollars',
  textIn: 'switchboard.text_in',
  textCached: 'switchboard.text_cached',
  textOut: 'switchboard.text_out',
  audioIn: 'switchboard.audio_in',
  audioCached: 'switchboard.audio_cached',
  audioOut: 'switchboard.audio_out',
  imageIn: 'switchboard.image_in',
  imageCached: 'switchboard.image_cached',
  call: 'switchboard.call',
  closeReason: 'switchboard.close_reason',
  hangup: 'switchboard.hangup',
  hangupTries: 'switchboard.hangup_tries',
  takeovers: 'switchboard.takeovers',
  event: 'switchboard.event',
  eventType: 'switchboard.event_type',
  endpoint: 'switchboard.endpoint',
  state: 'switchboard.state',
} as const;

export type AttributeValues = Readonly<Partial<Record<keyof typeof ATTRIBUTES, string | number | null | undefined>>>;

/** The attributes of a span, without those that are null. */
export function attributesOf(told: AttributeValues): Record<string, string | number> {
  const all = Object.entries(told).flatMap(([field, value]) =>
    value == null ? [] : [[ATTRIBUTES[field as keyof typeof ATTRIBUTES], value] as const],
  );
  return Object.fromEntries(all);
}
