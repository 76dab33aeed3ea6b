import type { SessionEvents, Speaking } from './api.ts';
import type { Emitter } from './emitter.ts';

const LOOK_MS = 100;
/** One hundredth of full scale: speech is louder, a quiet room is not. */
const SPEECH_LEVEL = 0.01;
/** Words are closer together. */
const PAUSE_MS = 600;

/** What other reports have not is undefined, and makes no level. */
interface AudioStats {
  readonly id: string;
  readonly type: string;
  readonly totalAudioEnergy: number;
  readonly totalSamplesDuration: number;
}

/**
 * Tells how loud both sides of a call are, ten times a second, and who speaks whenever that changes; calls `onVoice` while somebody
 * does. It compares sums that the browser keeps, so that nothing is missed when timers are late in a hidden tab.
 * @returns a function that stops
 */
export function watchVoices(
  peer: RTCPeerConnection,
  emit: Emitter<SessionEvents>['emit'],
  onVoice: () => void,
): () => void {
  const known = new Map<string, readonly [energy: number, seconds: number]>();
  const heardMs = { visitor: 0, agent: 0 };
  let speaking: Speaking = { visitor: false, agent: false };

  function become(visitor: boolean, agent: boolean): void {
    if (visitor === speaking.visitor && agent === speaking.agent) return;
    speaking = { visitor, agent };
    emit('speaking', speaking);
  }

  const timer = setInterval(() => {
    void peer.getStats().then((report) => {
      const now = Date.now();
      const levels = { visitor: 0, agent: 0 };
      report.forEach(({ id, type, totalAudioEnergy: energy, totalSamplesDuration: seconds }: AudioStats) => {
        const [energyBefore, secondsBefore] = known.get(id) ?? [0, 0];
        known.set(id, [energy, seconds]);
        const level = Math.sqrt((energy - energyBefore) / (seconds - secondsBefore));
        const side = type === 'media-source' ? 'visitor' : 'agent';
        if (level > levels[side]) levels[side] = level;
        if (level > SPEECH_LEVEL) {
          heardMs[side] = now;
          onVoice();
        }
      });
      emit('level', levels);
      become(now - heardMs.visitor < PAUSE_MS, now - heardMs.agent < PAUSE_MS);
    });
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    become(false, false);
  };
}
