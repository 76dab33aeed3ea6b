import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describeChannel } from '../../src/channel/asyncapi.ts';
import type { ServerFrame } from '../../src/protocol/frames.ts';
import type { Socket } from '../../src/kernel/socket.ts';

interface Described {
  readonly operations: Readonly<Record<string, { readonly messages: readonly object[] }>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly name: string; readonly payload: object }>>;
  };
}

/** The channel's AsyncAPI document as clients get it. */
export const described = describeChannel(
  { serverUrl: 'https://voice.example', path: '/api/realtime/socket', subprotocol: 'switchboard.v1' },
  '1.0.0',
) as Described;

const ajv = new Ajv({ keywords: ['x-unit'], allowUnionTypes: true });
formats.default(ajv);
const validators = new Map(
  Object.entries(described.components.messages).map(([name, { payload }]) => [name, ajv.compile(payload)]),
);

/** What is wrong with a frame according to the document; undefined if nothing is. */
export function complaint(sender: 'client' | 'server', frame: unknown): string | undefined {
  const validate = validators.get(`${sender}.${(frame as { type?: string } | null)?.type}`);
  if (validate === undefined) return 'is not described';
  return validate(frame) ? undefined : ajv.errorsText(validate.errors);
}

/** A socket that keeps what it is sent, and first checks each frame against the document. */
export class FakeSocket implements Socket {
  readonly frames: ServerFrame[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  closings = 0;
  /** True if the client does not read and the buffer is full. */
  isFull = false;

  send(text: string): 'sent' | 'dropped' {
    if (this.closed !== undefined) throw new Error(`sent after the close: ${text}`);
    if (this.isFull) return 'dropped';
    const frame = JSON.parse(text) as ServerFrame;
    const wrong = complaint('server', frame);
    if (wrong !== undefined) throw new Error(`${text} does not follow asyncapi.json: ${wrong}`);
    this.frames.push(frame);
    return 'sent';
  }

  close(code: number, reason: string): void {
    this.closings += 1;
    this.closed = { code, reason };
  }
}
