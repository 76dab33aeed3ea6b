import { SECOND_MS } from '../../kernel/time.ts';
import type { StateValue } from 'xstate';
import { stateValue } from '../../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { TracedEvent } from '../../actors/trace.ts';
import type { Socket, SocketListener } from '../../kernel/socket.ts';
import { policyOf, type HostedRecords } from '../journal/events.ts';
import type { MachineWithWords } from './machines.ts';

export const INSPECT_PATH = '/api/operator/inspect';

/** The version of @statelyai/inspect that defines these frames. */
const VERSION = '0.7.2';
/** Frames that may wait for one socket; beyond that, events are skipped. */
const MAX_WAITING = 500;
const MAX_EVENTS_A_SECOND = 50;

export interface InspectorDeps {
  readonly machines: readonly MachineWithWords[];
  readonly limits: VoiceLimits;
  readonly now: () => number;
  /** Some of the sessions that have not ended, to show when an inspector attaches. @throws Unavailable (rejects) */
  readonly open: () => Promise<readonly VoiceRecord[]>;
  readonly onError: (error: unknown) => void;
}

/** What an inspector is shown of one actor. */
interface InspectedActor {
  readonly machine: string;
  readonly record: HostedRecords;
  readonly value: StateValue;
  readonly isOver: boolean;
}

class AttachedSocket {
  readonly socket: Socket;
  readonly known = new Set<string>();
  waiting: string[] = [];
  second = 0;
  events = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

/**
 * Shows the tools of the XState ecosystem what machines do, in development (INSPECT=1): JSON frames of @statelyai/inspect, made from
 * records, because an actor lives for one event only. No frame has the whole id of a session, a code, a secret or an address.
 */
export class Inspector {
  readonly #deps: InspectorDeps;
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #attached = new Map<SocketListener, AttachedSocket>();

  constructor(deps: InspectorDeps) {
    this.#deps = deps;
    this.#definitions = new Map(deps.machines.map(({ machine }) => [machine.id, JSON.stringify(machine.config)]));
  }

  /** How many inspectors are attached. */
  get size(): number {
    return this.#attached.size;
  }

  accept(socket: Socket): SocketListener {
    const attached = new AttachedSocket(socket);
    const listener: SocketListener = {
      // Messages of inspectors are ignored.
      message() {},
      binary() {},
      ping() {},
      closed: () => void this.#attached.delete(listener),
    };
    this.#attached.set(listener, attached);
    void this.#introduce(attached);
    return listener;
  }

  /** Queues frames for what an actor did. */
  note({ machine, record, event, to, isFinal, atMs }: TracedEvent<HostedRecords>): void {
    for (const attached of this.#attached.values()) {
      const second = Math.floor(atMs / SECOND_MS);
      if (second !== attached.second) [attached.second, attached.events] = [second, 0];
      if (attached.events >= MAX_EVENTS_A_SECOND || attached.waiting.length >= MAX_WAITING) continue;
      attached.events += 1;
      const told = { machine, record, value: to, isOver: isFinal };
      const { sessionId, at, snapshot } = this.#frame(told, atMs);
      const common = { sessionId, rootId: sessionId, createdAt: at, id: null, _version: VERSION };
      if (!attached.known.has(sessionId)) this.#tellActor(attached, told, atMs);
      attached.waiting.push(
        JSON.stringify({ type: '@xstate.event', ...common, sourceId: null, event: { type: event } }),
        JSON.stringify({ type: '@xstate.snapshot', ...common, event: { type: event }, snapshot }),
      );
    }
  }

  /** Sends waiting frames as far as the sockets accept them. Call it several times a second. */
  tick(): void {
    for (const { socket, waiting } of this.#attached.values()) {
      let sent = 0;
      while (sent < waiting.length) {
        const result = socket.send(waiting[sent] ?? '');
        if (result === 'dropped') break;
        sent += 1;
        if (result === 'buffered') break;
      }
      waiting.splice(0, sent);
    }
  }

  async #introduce(attached: AttachedSocket): Promise<void> {
    const { open, limits, now, onError } = this.#deps;
    try {
      for (const record of await open()) {
        const told = { machine: 'voice-session', record, value: stateValue(record, limits), isOver: false };
        if (!attached.known.has(this.#frame(told, 0).sessionId)) this.#tellActor(attached, told, now());
      }
    } catch (error) {
      onError(error);
    }
  }

  #tellActor(attached: AttachedSocket, told: InspectedActor, atMs: number): void {
    const { sessionId, at, snapshot } = this.#frame(told, atMs);
    attached.known.add(sessionId);
    attached.waiting.push(
      JSON.stringify({
        type: '@xstate.actor',
        name: `${told.machine} ${sessionId.slice(-7)}`,
        sessionId,
        rootId: sessionId,
        parentId: null,
        definition: this.#definitions.get(told.machine),
        snapshot,
        createdAt: at,
        id: null,
        _version: VERSION,
      }),
    );
  }

  #frame({ machine, record, value, isOver }: InspectedActor, atMs: number) {
    const { nameOf, detailOf } = policyOf(machine);
    return {
      sessionId: nameOf(record),
      at: String(atMs),
      snapshot: {
        status: isOver ? 'done' : 'active',
        value,
        context: { version: record.version, ...detailOf(record) },
      },
    };
  }
}
