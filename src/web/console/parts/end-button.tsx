import { Warning } from './view-states.tsx';

interface Props {
  /** Why it cannot work now; undefined where it can. */
  readonly why: string | undefined;
  readonly title: string;
  readonly onEnd: () => void;
}

/** Asks before it ends sessions. While it cannot work it is off and says why; it keeps the focus, for its reason to be found. */
export function EndButton({ why, title, onEnd }: Props) {
  const isOff = why !== undefined;
  return (
    <>
      {isOff && (
        <span id="no-end" class="soft no-end">
          {why}
        </span>
      )}
      <button
        type="button"
        class="danger"
        title={isOff ? undefined : title}
        aria-disabled={isOff}
        aria-describedby={isOff ? 'no-end' : undefined}
        onClick={() => isOff || onEnd()}
      >
        <Warning /> End…
      </button>
    </>
  );
}
