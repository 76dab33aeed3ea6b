import { z } from 'zod';
import type { CallFrame } from './call-frame.ts';
import type { UpstreamEvent } from './contract.ts';

const seconds = z.object({ usage: z.object({ seconds: z.number().min(0).max(1_000_000) }) });
const closed = z.object({ reason: z.string().optional().catch(undefined) });

type OverReason = Extract<UpstreamEvent, { type: 'over' }>['reason'];
/** The provider's reasons for closing a session; an end that was requested, but not by us, was requested by the page. */
const overReasons: Readonly<Record<string, OverReason>> = {
  expired: 'expired',
  content: 'content',
  connection_lost: 'lost',
};

/** What an event of OpenAI's live API means, in our words; most mean nothing to us. */
export function eventsOf(frame: CallFrame): readonly UpstreamEvent[] {
  switch (frame.type) {
    case 'session.usage.updated':
      return [totalOf(frame)];
    case 'session.closed':
      return [totalOf(frame), { type: 'over', reason: overReasonOf(frame) }];
    case 'session.input_transcript.delta':
      return [{ type: 'activity' }, { type: 'listening' }, { type: 'words' }];
    case 'session.output_transcript.delta':
      return [{ type: 'activity' }, { type: 'speaking' }];
    default:
      return [];
  }
}

function totalOf(frame: CallFrame): UpstreamEvent {
  const { data } = seconds.safeParse(frame);
  if (data === undefined) return { type: 'usageUnreadable', key: undefined };
  return { type: 'usageTotal', ms: Math.ceil(data.usage.seconds * 1000) };
}

function overReasonOf(frame: CallFrame): OverReason {
  return overReasons[closed.safeParse(frame).data?.reason ?? ''] ?? 'remote';
}
