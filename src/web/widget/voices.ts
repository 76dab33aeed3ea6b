import { atEnd } from './abort.ts';
import type { SessionEvents, Speaking } from './api.ts';
import type { Emitter } from './emitter.ts';

const LOOK_MS = 100;
/** One hundredth of full scale: speech is louder, a quiet room is quieter. */
const SPEECH_LEVEL = 0.01;
/** Longer than the pauses between words. */
const PAUSE_MS = 600;

/** Reports of other types lack these fields, so their level is NaN and is ignored. Firefox has none for the microphone. */
interface AudioStats {
  readonly id: string;
  readonly type: string;
  readonly totalAudioEnergy: number;
  readonly totalSamplesDuration: number;
}

/**
 * Reports how loud both sides of a call are, ten times a second, and who speaks, whenever that changes; calls `onVoice` while somebody
 * speaks. It compares running sums that the browser keeps, so nothing is missed when timers are late in a hidden tab.
 * @param signal stops watching
 */
export function watchVoices(
  peer: RTCPeerConnection,
  microphone: MediaStream,
  emit: Emitter<SessionEvents>['emit'],
  onVoice: () => void,
  signal: AbortSignal,
): void {
  let before: RTCStatsReport | undefined;
  const heardMs = { visitor: 0, agent: 0 };
  let speaking: Speaking = { visitor: false, agent: false };

  function become(visitor: boolean, agent: boolean): void {
    if (visitor === speaking.visitor && agent === speaking.agent) return;
    speaking = { visitor, agent };
    emit('speaking', speaking);
  }

  let measure: (() => number) | undefined;
  const timer = setInterval(() => {
    void peer.getStats().then((report) => {
      if (signal.aborted) return;
      const now = Date.now();
      const levels = { visitor: 0, agent: 0 };
      report.forEach((stats: AudioStats) => {
        const grown = (sum: 'totalAudioEnergy' | 'totalSamplesDuration'): number =>
          stats[sum] - (before?.get(stats.id)?.[sum] ?? 0);
        const side = stats.type === 'media-source' ? 'visitor' : 'agent';
        let level = Math.sqrt(grown('totalAudioEnergy') / grown('totalSamplesDuration'));
        if (side === 'visitor' && stats.totalAudioEnergy === undefined)
          level = (measure ??= listenTo(microphone, signal))();
        if (level > levels[side]) levels[side] = level;
        if (level > SPEECH_LEVEL) {
          heardMs[side] = now;
          onVoice();
        }
      });
      before = report;
      emit('level', levels);
      become(now - heardMs.visitor < PAUSE_MS, now - heardMs.agent < PAUSE_MS);
    });
  }, LOOK_MS);
  atEnd(signal, () => {
    clearInterval(timer);
    become(false, false);
  });
}

/** Measures how loud a stream is, for browsers that do not report it. @returns a function that measures the level right now */
function listenTo(stream: MediaStream, signal: AbortSignal): () => number {
  const context = new AudioContext();
  atEnd(signal, () => void context.close());
  const analyser = context.createAnalyser();
  const samples = new Float32Array(analyser.fftSize);
  let track: MediaStreamTrack | undefined;
  return () => {
    const [present] = stream.getAudioTracks();
    if (present !== track && present) context.createMediaStreamSource(stream).connect(analyser);
    track = present;
    analyser.getFloatTimeDomainData(samples);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  };
}
