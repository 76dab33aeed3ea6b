const LOOK_MS = 1000;
/** Power of a level of one hundredth of full scale: speech is louder, a quiet room is not. */
const SPEECH_POWER = 0.01 ** 2;

interface AudioStats {
  readonly id: string;
  readonly type: string;
  readonly totalAudioEnergy?: number;
  readonly totalSamplesDuration?: number;
}

/**
 * Calls `onVoice` about every second while somebody speaks on either side. It compares sums that the browser keeps, so that
 * nothing is missed when timers are late in a hidden tab. @returns a function that stops
 */
export function watchVoices(peer: RTCPeerConnection, onVoice: () => void): () => void {
  const known = new Map<string, AudioStats>();
  const timer = setInterval(() => {
    void peer.getStats().then((report) => {
      report.forEach((now: AudioStats) => {
        const { totalAudioEnergy: energy, totalSamplesDuration: seconds } = now;
        if (energy === undefined || seconds === undefined) return;
        const { totalAudioEnergy = 0, totalSamplesDuration = 0 } = known.get(now.id) ?? {};
        if (energy - totalAudioEnergy > (seconds - totalSamplesDuration) * SPEECH_POWER) onVoice();
        known.set(now.id, now);
      });
    });
  }, LOOK_MS);
  return () => clearInterval(timer);
}
