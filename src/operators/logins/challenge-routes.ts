import { z } from 'zod';
import { iso } from '../../kernel/time.ts';
import {
  challengeFilters,
  challengePage,
  type OperatorChallenge,
  operatorChallengeDetail,
} from '../../protocol/operator/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { exampleEvent, operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import { string } from '../../protocol/fields.ts';
import { classify as classifyChallenge } from '../../../machines/otp-challenge/selectors.ts';
import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import { readCursor, writeCursor } from '../pagination.ts';
import { eventsOfActor } from '../journal/view.ts';

const exampleChallenge: OperatorChallenge = {
  id: 'Zq3v0m8XcQf1rT6uYp2sLw',
  subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  issuedAt: '2030-01-01T12:00:00.000Z',
  expiresAt: '2030-01-01T12:10:00.000Z',
  attempts: 2,
  maxAttempts: 5,
  state: 'pending',
};

export function challengesRoute({ core }: Services): Route {
  const { challenges: challengeStore } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/challenges',
    operationId: 'listChallenges',
    summary: 'List login codes that were sent, newest first',
    description: 'Without the codes and their hashes. Each is listed until a day after it expires.',
    right: 'see-installation',
    query: challengeFilters,
    reply: {
      description: 'A page of codes',
      schema: challengePage,
      example: {
        challenges: [exampleChallenge],
        nextCursor: null,
        asOf: '2030-01-01T12:01:00.000Z',
        searchedTo: null,
      },
    },
    handle: async (call, { state, cursor, limit }) => {
      const after = readCursor(cursor, [0] as const);
      if (after instanceof Refusal) return after;
      const { atMs } = call.request;
      const { challenges, next, searchedToMs } = await challengeStore.list(state, atMs, after?.[0], limit);
      return {
        challenges: challenges.map((record) => toOperatorChallenge(record, atMs)),
        nextCursor: next === undefined ? null : writeCursor([next]),
        asOf: iso(atMs),
        searchedTo: searchedToMs === undefined ? null : iso(searchedToMs),
      };
    },
  });
}

const challengeParams = z.object({ id: string('The id of the code', exampleChallenge.id) });

export function challengeRoute({ core }: Services): Route {
  const { challenges: challengeStore, journal } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/challenges/{id}',
    operationId: 'getChallenge',
    summary: 'Get one login code that was sent, and what its machine did',
    params: challengeParams,
    right: 'see-installation',
    reply: {
      description: 'The record of the code, without the code',
      schema: operatorChallengeDetail,
      example: {
        ...exampleChallenge,
        machine: 'otp-challenge',
        events: [{ ...exampleEvent, kind: 'stayed', event: 'REDEEM', from: 'pending', to: 'pending', steps: [] }],
        moreEvents: false,
      },
    },
    refusals: ['NOT_FOUND'],
    handle: async (call) => {
      const [id = ''] = call.params;
      const record = /^[\w.-]{1,512}$/.test(id) ? await challengeStore.load(id) : undefined;
      if (record === undefined)
        return new Refusal('NOT_FOUND', 'There is no code of this id; it may be so old that it was deleted.');
      const told = await eventsOfActor('otp-challenge', id, call.operator, journal);
      return { ...toOperatorChallenge(record, call.request.atMs), ...told };
    },
  });
}

function toOperatorChallenge(record: ChallengeRecord, atMs: number): OperatorChallenge {
  const { id, subject, issuedAtMs, expiresAtMs, attempts, maxAttempts } = record;
  return {
    id,
    subject,
    issuedAt: iso(issuedAtMs),
    expiresAt: iso(expiresAtMs),
    attempts,
    maxAttempts,
    state: classifyChallenge(record, atMs),
  };
}
