/** A media track in the hands of the test. */
export class FakeTrack extends EventTarget {
  readyState = 'live';

  stop(): void {
    this.readyState = 'ended';
  }
}

/** What a page gets from a microphone. */
export class FakeStream {
  readonly tracks = [new FakeTrack()];

  get active(): boolean {
    return this.tracks.some(({ readyState }) => readyState === 'live');
  }

  getTracks(): readonly FakeTrack[] {
    return this.tracks;
  }

  getAudioTracks(): readonly FakeTrack[] {
    return this.tracks;
  }
}

/** A peer connection that fares as the test says. */
export class FakePeer extends EventTarget {
  static readonly opened: FakePeer[] = [];
  connectionState = 'new';
  iceGatheringState = 'complete';
  onicegatheringstatechange: (() => void) | undefined;
  readonly channels: EventTarget[] = [];
  readonly localDescription = { sdp: 'v=0' };
  readonly transport = Object.assign(new EventTarget(), { state: 'new' });

  constructor() {
    super();
    FakePeer.opened.push(this);
  }

  createDataChannel(): EventTarget {
    const channel = new EventTarget();
    this.channels.push(channel);
    return channel;
  }

  addTrack(): void {
    // It plays to nobody.
  }

  getSenders(): readonly { readonly transport: EventTarget }[] {
    return [{ transport: this.transport }];
  }

  getStats(): Promise<ReadonlyMap<string, unknown>> {
    return Promise.resolve(new Map());
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
