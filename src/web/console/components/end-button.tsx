import { Warning } from './view-states.tsx';

interface Props {
  /** Why it does not work now; undefined if it does. */
  readonly why: string | undefined;
  readonly title: string;
  readonly onEnd: () => void;
}

/** Ends sessions after asking. While it does not work, it looks disabled and says why, but stays focusable so that its reason can be found. */
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
