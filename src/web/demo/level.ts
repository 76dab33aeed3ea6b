const LOOK_MS = 100;
/** Louder than a quiet room. */
const VOICE = 0.05;

/** Shows how loud a stream is, and calls `onVoice` while somebody speaks. @returns a function that stops */
export function watchLevel(stream: MediaStream, meter: HTMLMeterElement, onVoice: () => void): () => void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  const samples = new Float32Array(analyser.fftSize);
  context.createMediaStreamSource(stream).connect(analyser);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    const level = Math.min(1, Math.sqrt(power) * 4);
    meter.value = level;
    if (level > VOICE) onVoice();
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    meter.value = 0;
    void context.close();
  };
}
