import type { CreateReply } from '../../protocol/create.ts';
import type { CreateDeps, CreateStep, Registered } from './context.ts';

type ReplyDeps = Pick<CreateDeps, 'publicUrl' | 'config' | 'sessions' | 'provider'>;

export const makeReply: CreateStep = {
  name: 'reply',
  take(context: Registered, deps: ReplyDeps) {
    context.reply = replyOf(context, deps);
    return undefined;
  },
};

function replyOf(
  { record, minted, config: { callMode: mode, dataChannel } }: Registered,
  deps: ReplyDeps,
): CreateReply {
  const base = deps.publicUrl();
  const { maxMinutes, maxIdleSec } = deps.sessions.limits;
  return {
    id: minted.sessionId,
    sm_session_id: record.id,
    client_secret: { value: minted.value, expires_at: minted.expiresAtSec },
    heartbeat: {
      intervalSec: deps.config.heartbeatIntervalSec,
      url: `${base}/api/realtime/heartbeat`,
      socketUrl: `${base.replace(/^http/, 'ws')}/api/realtime/socket`,
    },
    limits: { maxMinutes, maxIdleSec },
    call: {
      mode,
      url: mode === 'brokered' ? `${base}/api/realtime/calls` : (deps.provider.callUrl ?? null),
      dataChannel,
    },
  };
}
