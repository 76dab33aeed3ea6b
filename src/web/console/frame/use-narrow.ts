import { useEffect, useState } from 'preact/hooks';

const narrow = matchMedia('(max-width: 639.98px)');

/** Whether the screen is a phone's: rows are higher there. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const note = (): void => setNarrow(narrow.matches);
    narrow.addEventListener('change', note);
    return () => narrow.removeEventListener('change', note);
  }, []);
  return isNarrow;
}
