/** A media track that the test controls. */
export class FakeTrack extends EventTarget {
  readyState = 'live';
  enabled = true;

  stop(): void {
    this.readyState = 'ended';
  }
}

/** The stream that a page gets from a microphone. */
export class FakeStream {
  tracks = [new FakeTrack()];

  get active(): boolean {
    return this.tracks.some(({ readyState }) => readyState === 'live');
  }

  getTracks(): readonly FakeTrack[] {
    return this.tracks;
  }

  getAudioTracks(): readonly FakeTrack[] {
    return this.tracks;
  }

  addTrack(track: FakeTrack): void {
    this.tracks = [...this.tracks, track];
  }

  removeTrack(track: FakeTrack): void {
    this.tracks = this.tracks.filter((each) => each !== track);
  }
}

/** The channel on which a page and its provider exchange events. */
export class FakeChannel extends EventTarget {
  readyState = 'connecting';
  readonly sent: unknown[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  open(): void {
    this.readyState = 'open';
    this.dispatchEvent(new Event('open'));
  }

  /** Delivers an event from the provider. */
  tell(event: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(event) }));
  }
}

/** A peer connection whose fate the test decides. */
export class FakePeer extends EventTarget {
  static readonly opened: FakePeer[] = [];
  connectionState = 'new';
  iceGatheringState = 'complete';
  onicegatheringstatechange: (() => void) | undefined;
  /** What the browser reports in `getStats`. */
  stats: ReadonlyMap<string, object> = new Map();
  readonly channels: FakeChannel[] = [];
  readonly localDescription = { sdp: 'v=0' };
  readonly transport = Object.assign(new EventTarget(), { state: 'new' });
  /** The track that the other end hears. */
  track: FakeTrack | undefined;

  constructor() {
    super();
    FakePeer.opened.push(this);
  }

  createDataChannel(): FakeChannel {
    const channel = new FakeChannel();
    this.channels.push(channel);
    return channel;
  }

  addTrack(track: FakeTrack): void {
    this.track = track;
  }

  getSenders(): readonly object[] {
    return [{ transport: this.transport, replaceTrack: (track: FakeTrack) => (this.track = track) }];
  }

  getStats(): Promise<ReadonlyMap<string, unknown>> {
    return Promise.resolve(this.stats);
  }

  setLocalDescription(): Promise<void> {
    return Promise.resolve();
  }

  setRemoteDescription(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.connectionState = 'closed';
  }

  become(state: string): void {
    this.connectionState = state;
    this.dispatchEvent(new Event('connectionstatechange'));
  }
}
