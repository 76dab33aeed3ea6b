import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Failure, ReadMore } from '../data/api.ts';
import { wordsOf } from './refused.tsx';
import { Warning } from './view-states.tsx';

interface Props {
  /** Where a list goes on; null at its end. */
  readonly cursor: string | null;
  readonly more: ReadMore;
  readonly words: string;
  /** Shown before the button. */
  readonly children?: ComponentChildren;
}

/** The way to the next page of a list, where there is one. What is shown stays when it cannot be read: then it can be tried again. */
export function More({ cursor, more, words, children }: Props) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isReading = useSignal(false);
  const read = async (): Promise<void> => {
    if (isReading.peek()) return;
    isReading.value = true;
    failure.value = await more();
    isReading.value = false;
  };
  if (cursor === null) return null;
  const why = failure.value;
  return (
    <div class="more">
      {children}
      {why !== undefined && (
        <p class="problem" role="alert">
          <Warning /> {wordsOf(why)}
        </p>
      )}
      <button type="button" aria-busy={isReading.value} onClick={() => void read()}>
        {why === undefined ? words : 'Try again'}
      </button>
    </div>
  );
}
