import type { HeartbeatRequest } from './heartbeat.ts';

/** Where the id begins, and where it ends, in the texts below. */
const ID_FROM = '{"sm_session_id":"'.length;
const ID_TO = ID_FROM + 's:'.length + 32 + ':'.length + 22;
const IDLE_FROM = ID_TO + '","idleSec":'.length;

const usual = /^\{"sm_session_id":"s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}(?:"|","idleSec":(?:0|[1-9]\d{0,8}))\}$/;

/**
 * The two texts of which nearly all traffic consists, without a parser and a schema; undefined for every other text, which those decide on.
 * A property test holds it and them together.
 */
export function usualHeartbeat(text: string): HeartbeatRequest | undefined {
  if (!usual.test(text)) return undefined;
  const sm_session_id = text.slice(ID_FROM, ID_TO);
  return text.length < IDLE_FROM ? { sm_session_id } : { sm_session_id, idleSec: Number(text.slice(IDLE_FROM, -1)) };
}
