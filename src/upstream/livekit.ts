import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type jsonwebtokenModule from 'jsonwebtoken';
import { z } from 'zod';
import { systemClock, type Clock } from '../kernel/time.ts';
import { randomId } from '../kernel/ids.ts';
import { parseJson } from '../kernel/post.ts';
import { isStorable } from '../kernel/text.ts';
import { UpstreamFault, type EndingProvider, type Minted, type MintRequest } from './contract.ts';
import {
  capDuration,
  malformed,
  readReply,
  request,
  makeUpstreamSessionId,
  type Account,
  type ProviderSettings,
} from './provider-http.ts';
import type { RoomEvent, RoomWish } from './room-contract.ts';

export interface LiveKitOptions extends ProviderSettings {
  /** LIVEKIT_URL: http, https, ws or wss. */
  readonly liveKitUrl?: string | undefined;
  /** LIVEKIT_API_KEY and LIVEKIT_API_SECRET: the first of each signs, all verify. */
  readonly liveKitApiKeys?: readonly string[] | undefined;
  readonly liveKitApiSecrets?: readonly string[] | undefined;
}

/** No token lives longer, whatever the settings say. */
const MAX_TTL_SEC = 6 * 3600;
/** LiveKit itself gives participants a new token when they join and every five minutes; it lives ten minutes, or as long as ours did. */
const REFRESHED_SEC = 600;
/** How much clocks may differ, and how long a request that has begun may take. */
const MARGIN_SEC = 60;
/** Lifetime of the tokens with which we call LiveKit's API. */
const ADMIN_TTL_SEC = 60;
/** Longest accepted lifetime of a webhook's token; LiveKit signs them for five minutes. */
const MAX_WEBHOOK_SEC = 600;
/** Webhook tokens have some 300 characters; nothing much longer is worth verifying. */
const MAX_TOKEN_LENGTH = 2048;

const roomsReply = z.object({ rooms: z.array(z.object({ name: z.string() })).default([]) });
const webhookClaims = z.object({ sha256: z.string(), exp: z.number(), nbf: z.number().optional() });
/** Protocol Buffers allow both names and numbers for an enumeration, and both spellings of a field. */
const reason = z.union([z.string(), z.number()]).optional();
const webhookEvent = z.object({
  event: z.string(),
  // Our rooms have names that the database can store; it cannot even be asked about others.
  room: z.object({ name: z.string().refine(isStorable).default('') }).default({ name: '' }),
  participant: z
    .object({ identity: z.string().default(''), disconnectReason: reason, disconnect_reason: reason })
    .optional(),
});

type Library = typeof jsonwebtokenModule;
/** Loaded when first needed: most services never need it. */
const loadLibrary = async (): Promise<Library> => (await import('jsonwebtoken')).default;

/**
 * LiveKit: the page joins its session's room with a token that is made here, without asking LiveKit, and that allows nothing else. At the session's
 * end the room is deleted, and deleted again for as long as one of its tokens may still be accepted.
 */
export class LiveKitProvider implements EndingProvider {
  readonly name = 'livekit';
  readonly capabilities;
  readonly simulated = false;
  readonly callOrigins: readonly string[];
  readonly roomUrl: string;
  readonly #account: Account;
  readonly #keys: readonly (readonly [key: string, secret: string])[];
  readonly #ttlSec: number;
  readonly #clock: Clock;

  /** @throws Error without an address, a key or its secret */
  constructor(options: LiveKitOptions) {
    const { liveKitUrl, liveKitApiKeys = [], liveKitApiSecrets = [], timeoutMs, clientSecretTtlSec } = options;
    if (liveKitUrl === undefined) throw new Error('the address of LiveKit is missing (LIVEKIT_URL)');
    this.#keys = liveKitApiKeys.map((key, at) => [key, liveKitApiSecrets[at] ?? '']);
    if (this.#keys.length === 0 || this.#keys.some(([, secret]) => secret === ''))
      throw new Error('LiveKit needs a key and its secret (LIVEKIT_API_KEY, LIVEKIT_API_SECRET)');
    const baseUrl = withScheme(liveKitUrl, 'http');
    const socketUrl = withScheme(liveKitUrl, 'ws');
    this.#account = { title: 'LiveKit', baseUrl, socketUrl, credentials: {}, timeoutMs };
    this.roomUrl = socketUrl.href.replace(/\/$/, '');
    this.callOrigins = [baseUrl.origin, socketUrl.origin];
    this.#ttlSec = Math.min(clientSecretTtlSec, MAX_TTL_SEC);
    this.#clock = options.clock ?? systemClock;
    this.capabilities = {
      call: 'token',
      hangUp: 'http',
      lockConfig: true,
      capDuration: null,
      meter: 'clock',
      converses: false,
      tools: false,
      providerMaxSec: null,
      returnSec: Math.max(REFRESHED_SEC, this.#ttlSec) + MARGIN_SEC,
    } as const;
  }

  /** Depends on the project only: any of its keys can end its rooms. */
  fingerprint(installationKey: Buffer): string {
    const text = JSON.stringify(['account', this.name, this.#account.baseUrl.href]);
    return createHmac('sha256', installationKey).update(text).digest('hex').slice(0, 16);
  }

  async mint({ maxDurationSec, room: wish = {} }: MintRequest): Promise<Minted> {
    const callId = `call_${randomId()}`;
    const sessionId = makeUpstreamSessionId();
    const ttlSec = capDuration({ minSec: 1, maxSec: this.#ttlSec }, { maxDurationSec });
    const grants = { video: { room: callId, roomJoin: true }, ...describeVisitor(wish) };
    const { token, expiresAtSec } = await this.#sign({ ...grants, sub: sessionId }, ttlSec);
    return { sessionId, value: token, expiresAtSec, callId };
  }

  async hangUp(providerCallId: string, signal: AbortSignal): Promise<'asked' | 'already_over'> {
    try {
      // LiveKit requires the right to create rooms for deleting one.
      await this.#ask('DeleteRoom', { room: providerCallId }, { roomCreate: true }, signal, 'hang-up');
      return 'asked';
    } catch (fault) {
      // Twirp also answers 404 for an unknown path, but with another code.
      if (fault instanceof UpstreamFault && fault.facts.status === 404 && fault.facts.code === 'not_found')
        return 'already_over';
      throw fault;
    }
  }

  async isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean> {
    const wanted = 'list of rooms';
    const reply = await this.#ask('ListRooms', { names: [providerCallId] }, { roomList: true }, signal, wanted);
    const { rooms } = readReply(this.#account, wanted, reply, roomsReply);
    if (rooms.some(({ name }) => name !== providerCallId)) throw malformed(this.#account, wanted, reply, 'rooms');
    return rooms.length > 0;
  }

  /**
   * A webhook is LiveKit's if its Authorization is a token that one of our keys signed for exactly these bytes, and that has not expired. Replaying
   * one changes nothing: rooms are joined and left once, and a repeated report is ignored.
   */
  async readWebhook(body: string, authorization: string | undefined, atMs: number): Promise<RoomEvent | undefined> {
    const token = (authorization ?? '').replace(/^Bearer +/i, '');
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const claims = webhookClaims.safeParse(await this.#verify(token, Math.floor(atMs / 1000))).data;
    if (claims === undefined || claims.exp * 1000 > atMs + MAX_WEBHOOK_SEC * 1000) return undefined;
    const [theirs, ours] = [
      Buffer.from(claims.sha256),
      Buffer.from(createHash('sha256').update(body).digest('base64')),
    ];
    if (theirs.length !== ours.length || !timingSafeEqual(theirs, ours)) return undefined;
    const { data } = webhookEvent.safeParse(parseJson(body));
    return data === undefined ? { type: 'other', room: '', identity: undefined } : eventOf(data);
  }

  async #verify(token: string, clockTimestamp: number): Promise<unknown> {
    const { verify } = await loadLibrary();
    for (const [issuer, secret] of this.#keys)
      try {
        return verify(token, secret, { algorithms: ['HS256'], issuer, clockTimestamp, clockTolerance: MARGIN_SEC });
      } catch {
        // Not signed with this key; try the next.
      }
    return undefined;
  }

  async #ask(method: string, body: object, video: object, signal: AbortSignal, wanted: string) {
    const { token } = await this.#sign({ video }, ADMIN_TTL_SEC);
    return request(this.#account, {
      path: `twirp/livekit.RoomService/${method}`,
      headers: { authorization: `Bearer ${token}` },
      json: body,
      signal,
      wanted,
    });
  }

  async #sign(claims: object, ttlSec: number): Promise<{ readonly token: string; readonly expiresAtSec: number }> {
    const { sign } = await loadLibrary();
    const [[issuer, secret] = ['', '']] = this.#keys;
    const iat = Math.floor(this.#clock.now() / 1000);
    const exp = iat + ttlSec;
    // LiveKit revokes a removed participant's tokens by their `nbf`. Clocks differ.
    const token = sign({ ...claims, iss: issuer, iat, nbf: iat - MARGIN_SEC, exp }, secret, { algorithm: 'HS256' });
    return { token, expiresAtSec: exp };
  }
}

/** The address with another scheme and a trailing slash, so that paths resolve under it. */
function withScheme(address: string, scheme: 'http' | 'ws'): URL {
  const url = new URL(address.replace(/^(?:http|ws)(s?):/i, `${scheme}$1:`));
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/`;
  return url;
}

/** The claims about who joins; an existing room keeps its agents. */
function describeVisitor({ agentName, agentMetadata, name, metadata, attributes }: RoomWish): object {
  const agent = { agentName, ...(agentMetadata !== undefined && { metadata: agentMetadata }) };
  return {
    ...(name !== undefined && { name }),
    ...(metadata !== undefined && { metadata }),
    ...(attributes !== undefined && { attributes }),
    ...(agentName !== undefined && { roomConfig: { agents: [agent] } }),
  };
}

/** Reasons for leaving after which the visitor goes on: they rejoin at once, or move to another of LiveKit's servers. */
const GOES_ON: ReadonlySet<unknown> = new Set(['DUPLICATE_IDENTITY', 2, 'STATE_MISMATCH', 6, 'MIGRATION', 8]);

function eventOf({ event, room: { name: room }, participant }: z.infer<typeof webhookEvent>): RoomEvent {
  const { identity, disconnectReason, disconnect_reason: why = disconnectReason } = participant ?? {};
  const type = event === 'participant_left' && GOES_ON.has(why) ? 'other' : (types[event] ?? 'other');
  return { type, room, identity };
}

const types: Readonly<Record<string, RoomEvent['type'] | undefined>> = {
  room_started: 'started',
  room_finished: 'finished',
  participant_joined: 'joined',
  participant_left: 'left',
};
