const isReleased = (lock: WakeLockSentinel | undefined): boolean => lock?.released !== false;

/** Keeps the screen on during a conversation, if the browser can and may. */
export function createAwake(): (on: boolean) => void {
  let isOn = false;
  let lock: WakeLockSentinel | undefined;

  /** A hidden page loses its wake lock and gets no other. */
  async function take(): Promise<void> {
    if (!isOn || document.hidden || !isReleased(lock)) return;
    try {
      const taken = await navigator.wakeLock.request('screen');
      // Meanwhile the conversation may have ended, or another lock been taken.
      if (!isOn || !isReleased(lock)) await taken.release();
      else lock = taken;
    } catch {
      // Not worth telling the visitor.
    }
  }

  const again = (): void => void take();
  return (on) => {
    if (on === isOn) return;
    isOn = on;
    if (on) {
      document.addEventListener('visibilitychange', again);
      return again();
    }
    document.removeEventListener('visibilitychange', again);
    void lock?.release();
  };
}
