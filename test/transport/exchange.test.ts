import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpReply } from '../../src/http/message.ts';
import { RunningTime, systemClock } from '../../src/kernel/time.ts';
import { Exchange } from '../../src/transport/exchange.ts';
import type { ServerState } from '../../src/transport/server-state.ts';
import type { NativeResponse } from '../../src/transport/native.ts';
import { IncomingRequest } from '../../src/transport/request.ts';
import { Runs } from '../../src/transport/reply.ts';
import { CommonPeer } from '../../src/transport/request.ts';

const ok: HttpReply = { status: 200, headers: [], body: '' };

/** A response that, like the real one, throws if it is used after its end or an abort. */
class FakeResponse implements NativeResponse {
  ends = 0;
  isGone = false;
  #alive(): this {
    if (this.isGone || this.ends > 0) throw new Error('must not be accessed');
    return this;
  }
  onAborted = (): this => this.#alive();
  onData = (): this => this.#alive();
  getRemoteAddress = (): ArrayBuffer => new ArrayBuffer(4);
  cork = (write: () => void): this => {
    this.#alive();
    write();
    return this;
  };
  writeStatus = (): this => this.#alive();
  end = (): this => {
    this.#alive().ends += 1;
    return this;
  };
  tryEnd = (): readonly [boolean, boolean] => {
    this.end();
    return [true, true];
  };
  onWritable = (): this => this.#alive();
  write = (): boolean => this.#alive() === this;
  endWithoutBody = (): this => this.end();
  close = (): this => this.#alive();
}

function setUp(handle: ServerState['handle']): { all: ServerState; res: FakeResponse; exchange: Exchange } {
  const all: ServerState = {
    handle,
    onFault: () => ({ ...ok, status: 500 }),
    onUnfinished: () => undefined,
    rejectMalformed: () => ({ ...ok, status: 400 }),
    maxBodyBytes: 10,
    replyDeadlineMs: 0,
    running: new RunningTime(),
    clock: systemClock,
    traffic: { accepted: 0, connections: 0, requests: 0 },
    runs: new Runs(),
    commonPeer: new CommonPeer(),
    pending: new Set(),
    draining: false,
  };
  const res = new FakeResponse();
  return { all, res, exchange: new Exchange(all, res) };
}

describe('an exchange', () => {
  it('lets exactly one caller claim it', () => {
    const { exchange } = setUp(() => ok);
    expect([exchange.claim(), exchange.claim(), exchange.claim()]).toEqual([true, false, false]);
  });

  it('lets nobody claim it once the client has gone', () => {
    const { exchange } = setUp(() => ok);
    exchange.abort();
    expect(exchange.claim()).toBe(false);
  });

  it('is answered exactly once, or never after an abort, whatever happens in any order', async () => {
    const happening = fc.constantFrom('answer', 'fail', 'deadline', 'defect', 'abort', 'tick');
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 8 }), async (happenings) => {
        let resolve: (reply: HttpReply) => void = () => {};
        let reject: (error: Error) => void = () => {};
        const promise = new Promise<HttpReply>((yes, no) => {
          resolve = yes;
          reject = no;
        });
        const { all, res, exchange } = setUp(() => promise);
        exchange.start(new IncomingRequest({}));
        for (const what of happenings) {
          if (what === 'answer') resolve(ok);
          if (what === 'fail') reject(new Error('failed'));
          if (what === 'deadline') exchange.expire(Infinity);
          if (what === 'defect') exchange.fail(new Error('defect'));
          if (what === 'tick') await new Promise((done) => setImmediate(done));
          if (what === 'abort') {
            // The library calls onAborted only for a request that has not been answered.
            if (res.ends > 0) continue;
            res.isGone = true;
            exchange.abort();
          }
        }
        await new Promise((done) => setImmediate(done));
        const mustAnswer = happenings.some((what) => what !== 'tick' && what !== 'abort');
        expect(res.ends).toBe(res.isGone || !mustAnswer ? 0 : 1);
        expect(all.pending.size).toBe(res.isGone || mustAnswer ? 0 : 1);
      }),
      { numRuns: 200 },
    );
  });
});
