import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { post, type Failure } from '../../data/api.ts';
import { Section } from '../../components/card.tsx';
import { useKeys } from '../../components/shortcuts.ts';
import { Warning } from '../../components/view-states.tsx';
import { onSend } from '../../components/modal.tsx';

const MAX_LENGTH = 1000;

interface Props {
  /** The session's ref, which addresses use instead of its secret id. */
  readonly session: string;
  /** Whether the server would accept a whisper now; undefined for a server that does not know of whispers. */
  readonly mayWhisper: boolean | undefined;
}

/** Sends words to a session's agent, and shows the result. A draft is kept while no call is open. */
export function Whisper({ session, mayWhisper = false }: Props) {
  const text = useSignal('');
  const isBusy = useSignal(false);
  const isSent = useSignal(false);
  const problem = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  useKeys({ w: () => field.current?.focus() });
  if (!mayWhisper && text.value === '' && problem.value === '') return null;

  const send = async (): Promise<void> => {
    if (isBusy.peek() || text.peek().trim() === '') return;
    isBusy.value = true;
    isSent.value = false;
    problem.value = '';
    const answer = await post(`/api/operator/sessions/${session}/whisper`, { text: text.peek() });
    problem.value = answer.ok ? '' : wordsOf(answer.failure);
    isBusy.value = false;
    isSent.value = problem.peek() === '';
    if (isSent.peek()) text.value = '';
    field.current?.focus();
  };

  return (
    <Section title="Whisper to the agent">
      <form class="whisper" onSubmit={onSend(send)}>
        <label for="whisper-text">For the agent alone</label>
        <textarea
          id="whisper-text"
          ref={field}
          rows={3}
          maxLength={MAX_LENGTH}
          autocomplete="off"
          aria-describedby="whisper-note whisper-problem"
          value={text.value}
          readOnly={isBusy.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            isSent.value = false;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
          }}
        />
        <p id="whisper-note" class="soft">
          It knows this from now on, and says nothing because of it. The visitor is not shown it, and nobody keeps it;
          the audit has that you whispered.
        </p>
        <p id="whisper-problem" class="problem" role="alert">
          {problem.value !== '' && (
            <>
              <Warning /> {problem.value}
            </>
          )}
        </p>
        <div class="buttons">
          <button disabled={isBusy.value || text.value.trim() === ''} title="Send (Ctrl+Enter)">
            Send
          </button>
          <span role="status">{isBusy.value ? 'Sending…' : isSent.value ? 'The agent was told.' : ''}</span>
        </div>
      </form>
    </Section>
  );
}

function wordsOf(failure: Failure): string {
  if (failure.kind === 'refused') return failure.error;
  if (failure.kind === 'login') return 'Your login is over.';
  return failure.kind === 'missing'
    ? 'There is no such session any more.'
    : 'The service did not answer: the agent may or may not have been told.';
}
