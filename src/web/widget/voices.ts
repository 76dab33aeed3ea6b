const LOOK_MS = 1000;
/** Power of a level of one hundredth of full scale: speech is louder, a quiet room is not. */
const SPEECH_POWER = 0.01 ** 2;

/** What other reports have not is undefined, and no sum of theirs is greater than another. */
interface AudioStats {
  readonly id: string;
  readonly totalAudioEnergy: number;
  readonly totalSamplesDuration: number;
}

/**
 * Calls `onVoice` about every second while somebody speaks on either side. It compares sums that the browser keeps, so that
 * nothing is missed when timers are late in a hidden tab. @returns a function that stops
 */
export function watchVoices(peer: RTCPeerConnection, onVoice: () => void): () => void {
  const known = new Map<string, readonly [energy: number, seconds: number]>();
  const timer = setInterval(() => {
    void peer.getStats().then((report) => {
      report.forEach(({ id, totalAudioEnergy: energy, totalSamplesDuration: seconds }: AudioStats) => {
        const [energyBefore, secondsBefore] = known.get(id) ?? [0, 0];
        if (energy - energyBefore > (seconds - secondsBefore) * SPEECH_POWER) onVoice();
        known.set(id, [energy, seconds]);
      });
    });
  }, LOOK_MS);
  return () => clearInterval(timer);
}
