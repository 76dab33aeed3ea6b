import type { HttpReply, HttpRequest } from '../http/message.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { RunningTime } from '../kernel/running-time.ts';
import type { Runs } from './reply.ts';
import type { CommonPeer } from './request.ts';

/** What a drain must know of the connections that speak HTTP; each number but `connections` only grows. */
export interface ConnectionCounts {
  accepted: number;
  connections: number;
  requests: number;
}

/** An exchange that outlives one callback. */
export interface Pending {
  /** Gives its handler up when its time is over. @param now of the server's running time */
  expire(now: number): void;
}

/** What the exchanges of one server share. */
export interface ServerState {
  readonly handle: (request: HttpRequest) => Eventually<HttpReply>;
  readonly onFault: (error: unknown, requestId: string) => HttpReply;
  readonly rejectMalformed: (request: HttpRequest) => HttpReply;
  readonly onUnfinished: (request: HttpRequest) => void;
  readonly maxBodyBytes: number;
  readonly replyDeadlineMs: number;
  /** In which handlers have their time. */
  readonly running: RunningTime;
  readonly clock: Clock;
  readonly traffic: ConnectionCounts;
  /** What a drain waits for and the deadline looks through. */
  readonly pending: Set<Pending>;
  readonly runs: Runs;
  readonly commonPeer: CommonPeer;
  /** From the start of a drain on every reply asks the client to close. */
  draining: boolean;
}
