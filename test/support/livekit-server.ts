import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AccessToken, TokenVerifier, type VideoGrant } from 'livekit-server-sdk';
import { z } from 'zod';
import { closeServer, listen, portOf } from './http-server.ts';

export const API_KEY = 'APItest4f1c0ffee';
export const API_SECRET = 'a-secret-of-livekit-that-only-the-tests-know';

interface Room {
  readonly name: string;
  readonly agents: readonly string[];
  readonly identities: Set<string>;
}

export interface Webhook {
  readonly body: string;
  readonly authorization: string;
}

const bodies = {
  DeleteRoom: z.strictObject({ room: z.string().min(1) }),
  ListRooms: z.strictObject({ names: z.array(z.string()) }),
};

/**
 * A stand-in for a LiveKit server, since tests cannot run a real one: its RoomService over Twirp and the check of who may join, both by the
 * rules of livekit/livekit (`pkg/service`), with tokens that LiveKit's own library verifies. It carries no media.
 */
export class LiveKitServer {
  /** While true, the server answers every request with 503. */
  isAway = false;
  readonly rooms = new Map<string, Room>();
  readonly requests: { readonly method: string; readonly body: unknown }[] = [];
  readonly #verifier: TokenVerifier;
  readonly #server: Server;

  readonly secret: string;

  private constructor(secret: string) {
    this.secret = secret;
    this.#verifier = new TokenVerifier(API_KEY, secret);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(secret = API_SECRET): Promise<LiveKitServer> {
    const server = new LiveKitServer(secret);
    await listen(server.#server);
    return server;
  }

  get port(): number {
    return portOf(this.#server);
  }

  get settings() {
    return { LIVEKIT_URL: `ws://127.0.0.1:${this.port}`, LIVEKIT_API_KEY: API_KEY, LIVEKIT_API_SECRET: this.secret };
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  /** Joins as a client does; creates a missing room with the agents that the token names. @throws Error for a token that does not admit */
  async join(token: string): Promise<Room> {
    const { sub = '', video, roomConfig } = await this.#verifier.verify(token);
    if (video?.roomJoin !== true || !video.room || sub === '') throw new Error('permissions denied');
    const agents = (roomConfig?.agents ?? []).map(({ agentName }) => agentName);
    const room = this.rooms.get(video.room) ?? { name: video.room, agents, identities: new Set() };
    this.rooms.set(room.name, room);
    room.identities.add(sub);
    return room;
  }

  /** The token that LiveKit sends a participant on joining and then every five minutes; it is valid for at least ten minutes. */
  async refreshed(token: string): Promise<string> {
    const { sub = '', video, roomConfig } = await this.#verifier.verify(token);
    const fresh = new AccessToken(API_KEY, this.secret, { identity: sub, ttl: 600 });
    fresh.addGrant(video as VideoGrant);
    fresh.roomConfig = roomConfig;
    return fresh.toJwt();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const [status, body] = await this.#answer(request, text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #answer({ method, url = '', headers }: IncomingMessage, text: string): Promise<[number, object]> {
    if (this.isAway) return [503, { code: 'unavailable', msg: 'away' }];
    const [, name = ''] = /^\/twirp\/livekit\.RoomService\/(\w+)$/.exec(url) ?? [];
    if (method !== 'POST' || !(name in bodies)) return [404, { code: 'bad_route', msg: `no handler for path ${url}` }];
    const [, token = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
    const grants = await this.#verifier.verify(token).catch(() => undefined);
    const { video } = grants ?? {};
    const asked = bodies[name as keyof typeof bodies].safeParse(JSON.parse(text));
    if (!asked.success) return [400, { code: 'malformed', msg: asked.error.message }];
    this.requests.push({ method: name, body: asked.data });
    if ('names' in asked.data) {
      if (video?.roomList !== true) return [401, { code: 'unauthenticated', msg: 'permissions denied' }];
      return [200, { rooms: asked.data.names.flatMap((room) => (this.rooms.has(room) ? [{ name: room }] : [])) }];
    }
    if (video?.roomCreate !== true) return [401, { code: 'unauthenticated', msg: 'permissions denied' }];
    if (!this.rooms.delete(asked.data.room)) return [404, { code: 'not_found', msg: 'requested room does not exist' }];
    return [200, {}];
  }
}

/** A webhook, built and signed by LiveKit's own library as the server does it. */
export async function webhookOf(
  event: object,
  { secret = API_SECRET, key = API_KEY, ttl = 300 } = {},
): Promise<Webhook> {
  const body = JSON.stringify({ id: `EV_${randomUUID()}`, createdAt: String(Math.floor(Date.now() / 1000)), ...event });
  const token = new AccessToken(key, secret, { ttl });
  token.sha256 = createHash('sha256').update(body).digest('base64');
  return { body, authorization: await token.toJwt() };
}
