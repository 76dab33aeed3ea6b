const isReleased = (lock: WakeLockSentinel | undefined): boolean => lock?.released !== false;

/** Keeps the screen on while a conversation is. A browser that cannot, or may not, dims it as ever. */
export function createAwake(): (on: boolean) => void {
  let isOn = false;
  let lock: WakeLockSentinel | undefined;

  /** A page that is out of sight has none, and gets none. */
  async function take(): Promise<void> {
    if (!isOn || document.hidden || !isReleased(lock)) return;
    try {
      const taken = await navigator.wakeLock.request('screen');
      // It may be over meanwhile, or have another.
      if (!isOn || !isReleased(lock)) await taken.release();
      else lock = taken;
    } catch {
      // The screen is no reason to speak of.
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
