import type { HttpReply, HttpRequest } from '../http/message.ts';
import type { Clock, RunningTime } from '../kernel/time.ts';
import type { Eventually } from '../kernel/async.ts';
import type { Runs } from './reply.ts';
import type { CommonPeer } from './request.ts';

/** What a drain needs to know of the connections that speak HTTP; all numbers but `connections` only grow. */
export interface ConnectionCounts {
  accepted: number;
  connections: number;
  requests: number;
}

/** An exchange that outlasts its callback. */
export interface OpenExchange {
  /** Ends the wait for its handler once the deadline has passed. @param now the server's running time */
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
  /** The time by which deadlines of handlers are measured. */
  readonly running: RunningTime;
  readonly clock: Clock;
  readonly traffic: ConnectionCounts;
  /** What a drain waits for, and what is checked for missed deadlines. */
  readonly pending: Set<OpenExchange>;
  readonly runs: Runs;
  readonly commonPeer: CommonPeer;
  /** Once a drain has started, every reply asks the client to close. */
  draining: boolean;
}
