import type { StateValue } from 'xstate';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { TracedEvent } from '../../actors/trace.ts';
import { refOf, rowId } from '../../kernel/ids.ts';
import type { FlatDetail, MachineName, NewEntry, TransitionDetail } from '../../stores/journal/contract.ts';

/** The records of the machines whose transitions are kept. */
interface Records {
  readonly 'voice-session': VoiceRecord;
  readonly 'voice-call': CallRecord;
  readonly 'otp-challenge': ChallengeRecord;
  readonly 'auth-session': AuthRecord;
}

export type HostedRecords = Records[MachineName];

interface TransitionPolicy<R> {
  /** The actor's name in the journal, because an id may itself be its caller's proof. */
  readonly nameOf: (record: R) => string;
  /** The fields of a record that are kept: never a code or its hash, an address, or a whole id of a voice session. */
  readonly detailOf: (record: R) => FlatDetail;
  /** A state, besides final ones, in which nothing more is expected to happen. */
  readonly over?: string;
  /** Whether events that do not change the state are kept. */
  readonly keepsStays: boolean;
}

const policies: { readonly [M in MachineName]: TransitionPolicy<Records[M]> } = {
  'voice-session': {
    nameOf: ({ id }) => refOf(id),
    detailOf: ({ endReason, lastSeenAtMs, lastActivityAtMs, settledAtMs }) => ({
      reason: endReason,
      lastSeenAtMs,
      lastActivityAtMs,
      settledAtMs,
    }),
    keepsStays: false,
  },
  'voice-call': {
    nameOf: ({ id }) => id,
    detailOf: ({ sessionId, closeReason, hangup, hangupTries, ownerNode }) => ({
      session: refOf(sessionId),
      reason: closeReason,
      hangup,
      hangupTries,
      ownerNode,
    }),
    over: 'closed',
    keepsStays: true,
  },
  'otp-challenge': {
    nameOf: ({ id }) => id,
    detailOf: ({ attempts, maxAttempts }) => ({ attempts, maxAttempts }),
    keepsStays: true,
  },
  'auth-session': {
    nameOf: ({ id }) => id,
    detailOf: ({ destroyReason }) => ({ reason: destroyReason }),
    // A login is renewed once a minute, which is not worth keeping.
    keepsStays: false,
  },
};

/** How the events of a machine enter the journal. */
export function policyOf(machine: string): TransitionPolicy<HostedRecords> {
  return policies[machine as MachineName] as TransitionPolicy<HostedRecords>;
}

/** The journal entry of what a machine did; undefined for what is not kept. */
export function transitionOf(traced: TracedEvent<HostedRecords>, node: string): NewEntry<'transition'> | undefined {
  const machine = traced.machine as MachineName;
  const telling = policyOf(machine);
  const { record, event, atMs, requestId, steps, guards } = traced;
  const from = traced.from === undefined ? null : leafOf(traced.from);
  const to = leafOf(traced.to);
  const change = changeOf(from, to, traced.isFinal || to === telling.over);
  if (change === 'stayed' && !telling.keepsStays) return undefined;
  return {
    id: rowId(),
    kind: 'transition',
    atMs,
    node,
    requestId,
    of: { machine, target: telling.nameOf(record) },
    code: event,
    detail: { change, from, to, steps, guards, version: record.version, record: telling.detailOf(record) },
  };
}

function changeOf(from: string | null, to: string, isOver: boolean): TransitionDetail['change'] {
  if (from === null) return 'started';
  if (from === to) return 'stayed';
  return isOver ? 'ended' : 'moved';
}

/** The innermost state, which is what stores and clients call the state. */
function leafOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [name = '', inner] = Object.entries(value)[0] ?? [];
  return inner === undefined ? name : leafOf(inner);
}
