import { z } from 'zod';
import { deadline } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import type { TokenClasses } from '../protocol/price.ts';
import { isDialled, openCallSocket, type CallSocket } from './call-socket.ts';
import {
  CallOver,
  UnansweredCall,
  UpstreamFault,
  type BrokeredProvider,
  type CallRequest,
  type CreatedCall,
  type Minted,
  type MintRequest,
  type Sideband,
  type UpstreamEvent,
} from './contract.ts';
import {
  fingerprintOf,
  malformed,
  multipart,
  readReply,
  request,
  under,
  makeUpstreamSessionId,
  type Account,
} from './provider-http.ts';
import { describeCall, describeMint, type ToldSession } from './realtime-session.ts';
import { attachToRealtime } from './realtime-sideband.ts';
import { readTokens } from './realtime-usage.ts';

export interface RealtimeOptions {
  readonly name: string;
  readonly account: Account;
  /** Where pages open their calls themselves. */
  readonly callUrl: string;
  /** Seconds that a client secret is valid, 10..7200. */
  readonly clientSecretTtlSec: number;
  /** The query of the request that creates a call; none by default. */
  readonly createQuery?: (request: CallRequest) => string;
  readonly transcriber: string | null;
  /** How deadlines are kept; tests control time themselves. */
  readonly after?: typeof deadline | undefined;
}

const mintReply = z.object({
  value: z.string().min(1),
  expires_at: z.int().positive(),
  // The id is optional in the reply; without a usable one we make our own.
  session: z
    .object({ id: z.string().regex(/^sess_[\w-]{1,200}$/) })
    .optional()
    .catch(undefined),
});

/** Calls whose reported spelling is remembered; a node holds fewer. */
const MAX_SPELLINGS = 20_000;

const callId = /^rtc_[\w-]{1,200}$/;

/**
 * A provider that speaks OpenAI's realtime API: it mints client secrets, and creates, hears and ends calls. The calls that it creates belong to our
 * key, so only somebody with that key can hear and end them.
 */
export class RealtimeProvider implements BrokeredProvider {
  readonly name: string;
  readonly capabilities = {
    call: 'brokered',
    hangUp: 'http',
    lockConfig: false,
    capDuration: null,
    meter: 'events',
    converses: true,
    tools: true,
    providerMaxSec: 3600,
  } as const;
  readonly simulated = false;
  readonly callUrl: string;
  readonly transcriber: string | null;
  readonly callOrigins: readonly string[];
  readonly #account: Account;
  readonly #options: RealtimeOptions;
  readonly #after: typeof deadline;
  /** By call, for calls that the provider reports differently from how we set them. */
  readonly #asCreated = new Lru<ToldSession>(MAX_SPELLINGS);

  constructor(options: RealtimeOptions) {
    this.name = options.name;
    this.transcriber = options.transcriber;
    this.callUrl = options.callUrl;
    this.callOrigins = [new URL(options.callUrl).origin];
    this.#account = options.account;
    this.#options = options;
    this.#after = options.after ?? deadline;
  }

  async mint(asked: MintRequest): Promise<Minted> {
    const seconds = this.#options.clientSecretTtlSec;
    const reply = await request(this.#account, {
      path: '/realtime/client_secrets',
      headers: { 'openai-safety-identifier': asked.subjectHash },
      json: { expires_after: { anchor: 'created_at', seconds }, session: describeMint(asked) },
      traceparent: asked.traceparent,
      signal: asked.signal,
      wanted: 'client secret',
    });
    const data = readReply(this.#account, 'client secret', reply, mintReply);
    return {
      sessionId: data.session?.id ?? makeUpstreamSessionId(),
      value: data.value,
      expiresAtSec: data.expires_at,
    };
  }

  fingerprint(installationKey: Buffer): string {
    return fingerprintOf(this.name, this.#account, installationKey);
  }

  async createCall(asked: CallRequest): Promise<CreatedCall> {
    const form = multipart([
      { name: 'sdp', type: 'application/sdp', text: asked.offerSdp },
      { name: 'session', type: 'application/json', text: JSON.stringify(describeCall(asked)) },
    ]);
    const path = `/realtime/calls${this.#options.createQuery?.(asked) ?? ''}`;
    const calls = under(this.#account.baseUrl, '/realtime/calls');
    let providerCallId: string | undefined;
    const asking = request(this.#account, {
      path,
      headers: { 'content-type': form.type, 'openai-safety-identifier': asked.subjectHash },
      body: form.body,
      onSuccess: (headers) => {
        providerCallId = readLocation(headers, calls);
      },
      traceparent: asked.traceparent,
      signal: asked.signal,
      wanted: 'call',
    });
    const reply = await asking.catch((fault: unknown) => {
      const isNamed = providerCallId !== undefined && fault instanceof UpstreamFault;
      throw isNamed ? new UnansweredCall(providerCallId as string, fault) : fault;
    });
    if (providerCallId === undefined) throw malformed(this.#account, 'call', reply, 'location');
    return { providerCallId, answerSdp: reply.text };
  }

  async hangUp(providerCallId: string, signal: AbortSignal): Promise<'asked' | 'already_over'> {
    try {
      await request(this.#account, {
        path: `/realtime/calls/${encodeURIComponent(providerCallId)}/hangup`,
        callId: providerCallId,
        signal,
        wanted: 'hang-up',
      });
      return 'asked';
    } catch (error) {
      if (error instanceof CallOver) return 'already_over';
      throw error;
    }
  }

  readUsage(usage: unknown): TokenClasses | undefined {
    return readTokens(usage);
  }

  async attach(
    providerCallId: string,
    { isPutBack = false, mayBeSpeaking = false, ...setup }: Parameters<BrokeredProvider['attach']>[1],
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband> {
    const after = this.#after;
    const socket = await this.#dial(providerCallId, hear, signal);
    const { timeoutMs } = this.#account;
    const { title } = this.#account;
    const asCreated = this.#asCreated.get(providerCallId);
    const noteAsCreated = (spelling: ToldSession): void => {
      if (Object.keys(spelling).length > 0) this.#asCreated.set(providerCallId, spelling);
    };
    const known = { isPutBack, mayBeSpeaking, asCreated, noteAsCreated };
    return attachToRealtime(socket, { setup, ...known, hear, signal, after, timeoutMs, title });
  }

  isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean> {
    return isDialled(() => this.#dial(providerCallId, () => undefined, signal));
  }

  #dial(callId: string, hear: (event: UpstreamEvent) => void, signal: AbortSignal): Promise<CallSocket> {
    const path = `/realtime?call_id=${encodeURIComponent(callId)}`;
    return openCallSocket(this.#account, path, { callId, after: this.#after, signal, hear });
  }
}

/**
 * The id of a created call: the last part of its address, or `call_id` in it. An address at another origin is not trusted; what comes before the path
 * of the calls is up to the gateway.
 */
function readLocation(headers: Headers, calls: URL): string | undefined {
  const location = headers.get('location');
  if (location === null || !URL.canParse(location, calls.href)) return undefined;
  const { origin, pathname, searchParams } = new URL(location, calls);
  const [, part] = /\/realtime\/calls(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const id = part ?? searchParams.get('call_id') ?? '';
  return origin === calls.origin && callId.test(id) ? id : undefined;
}
