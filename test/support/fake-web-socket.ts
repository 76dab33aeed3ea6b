const session = { active: true, startedAt: '', lastSeenAt: '', durationSec: 0, idleSec: 0 };

/** A page's socket, whose server is the test. */
export class FakeWebSocket extends EventTarget {
  static readonly opened: FakeWebSocket[] = [];
  readyState = 0;
  readonly sent: Record<string, unknown>[] = [];

  constructor() {
    super();
    FakeWebSocket.opened.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  /** Delivers a frame of the server. */
  hear(frame: object): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(frame) }));
  }

  /** It opens, and the server attaches it. */
  attach(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
    const limits = { maxMinutes: 15, maxIdleSec: 300 };
    this.hear({ type: 'attached', session, state: 'engaged', heartbeat: { intervalSec: 45 }, limits, resume: 'rs_1' });
  }

  /** The connection ends. */
  end(code: number): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }
}
