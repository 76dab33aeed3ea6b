import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { get, post, type Failure } from '../data/api.ts';
import { access, nextPath } from '../data/identity.ts';
import { Mark } from '../components/icons.tsx';
import { useTitle } from '../components/page.tsx';
import { useSignal, type Signal } from '@preact/signals';
import { now } from '../data/server-time.ts';
import { spanText } from '../labels/format.ts';
import { onSend } from '../components/modal.tsx';
import { SECOND_MS } from '../data/durations.ts';

export function LoginPage() {
  const { query, route } = useLocation();
  useTitle('Log in');
  const enter = (): void => {
    access.value = 'unknown';
    route(nextPath(query['next']), true);
  };
  useEffect(() => {
    // Someone who is already logged in goes straight on.
    void get('/api/auth/session').then(({ ok }) => ok && enter());
  }, []);
  return (
    <main class="alone">
      <div class="card login">
        <p class="wordmark">
          <Mark /> Switchboard
        </p>
        <h1>Log in to the console</h1>
        <LoginForm onLogin={enter} />
      </div>
    </main>
  );
}

const RESEND_AFTER_MS = 30 * SECOND_MS;
const CODE = /^\d{6}$/;

interface SentCode {
  readonly expiresAtMs: number;
  readonly resendAtMs: number;
}

interface FormProps {
  readonly email?: string | undefined;
  /** Called once the cookie is set. */
  readonly onLogin: () => void;
}

/** Asks for the e-mail address, then for the code, in a single field that also accepts a paste or an autofill. */
export function LoginForm({ email: known = '', onLogin }: FormProps) {
  const email = useSignal(known);
  const sent = useSignal<SentCode | undefined>(undefined);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const asksForEmail = sent.value === undefined;
  useEffect(() => field.current?.focus(), [asksForEmail]);

  const send = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = '';
    const answer = await post<{ readonly expiresIn: number }>('/api/auth/otp/send', { email: email.value.trim() });
    isBusy.value = false;
    const atMs = now.peek();
    if (answer.ok)
      sent.value = { expiresAtMs: atMs + answer.body.expiresIn * 1000, resendAtMs: atMs + RESEND_AFTER_MS };
    else {
      problem.value = wordsOf(answer.failure);
      if (sent.value !== undefined) sent.value = { ...sent.value, resendAtMs: atMs + retryMs(answer.failure) };
    }
  };
  const verify = async (code: string): Promise<boolean> => {
    isBusy.value = true;
    problem.value = '';
    const answer = await post('/api/auth/otp/verify', { email: email.value.trim(), code });
    isBusy.value = false;
    if (answer.ok) onLogin();
    else problem.value = wordsOf(answer.failure);
    return answer.ok;
  };

  return (
    <div class="login-form">
      {sent.value === undefined ? (
        <form onSubmit={onSend(send)}>
          <label for="email">E-mail address</label>
          <input
            ref={field}
            id="email"
            type="email"
            name="email"
            autocomplete="username"
            required
            maxLength={254}
            value={email.value}
            aria-describedby={problem.value === '' ? undefined : 'login-problem'}
            onInput={({ currentTarget }) => (email.value = currentTarget.value)}
          />
          <button class="primary" disabled={isBusy.value}>
            Send code
          </button>
        </form>
      ) : (
        <>
          <CodeForm
            email={email.value.trim()}
            sent={sent.value}
            isBusy={isBusy}
            hasProblem={problem.value !== ''}
            onCode={verify}
          />
          <Resend sent={sent.value} onResend={() => void send()} />
          <p>
            <button
              type="button"
              class="link"
              onClick={() => {
                sent.value = undefined;
                problem.value = '';
              }}
            >
              Change address
            </button>
          </p>
          <DevelopmentMailbox />
        </>
      )}
      <p id="login-problem" class="problem" role="alert">
        {problem.value}
      </p>
    </div>
  );
}

interface CodeProps {
  readonly email: string;
  readonly sent: SentCode;
  readonly isBusy: Signal<boolean>;
  readonly hasProblem: boolean;
  readonly onCode: (code: string) => Promise<boolean>;
}

function CodeForm({ email, sent, isBusy, hasProblem, onCode }: CodeProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [sent]);
  const submit = async (code: string): Promise<void> => {
    if (isBusy.peek() || (await onCode(code))) return;
    field.current?.select();
  };
  return (
    <form onSubmit={onSend(() => submit(digits(field.current?.value ?? '')))}>
      {/* The same text for every address, so as not to reveal which may log in. */}
      <p role="status">
        If <b>{email}</b> may log in, a code is on its way. It is good for <Remaining toMs={sent.expiresAtMs} />.
      </p>
      <label for="code">Code from the e-mail</label>
      <input
        ref={field}
        id="code"
        class="code"
        type="text"
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        maxLength={12}
        required
        aria-describedby={hasProblem ? 'login-problem' : undefined}
        aria-invalid={hasProblem}
        onInput={(event) => {
          const input = event.currentTarget;
          const isTyped = isTyping(event);
          const code = digits(input.value);
          if (!isTyped && CODE.test(code)) {
            input.value = code;
            void submit(code);
          }
        }}
      />
      <button class="primary" disabled={isBusy.value}>
        Log in
      </button>
    </form>
  );
}

function Remaining({ toMs }: { readonly toMs: number }) {
  return <span class="figure">{spanText(toMs - now.value)}</span>;
}

function Resend({ sent, onResend }: { readonly sent: SentCode; readonly onResend: () => void }) {
  const leftMs = sent.resendAtMs - now.value;
  return (
    <p>
      <button type="button" disabled={leftMs > 0} onClick={onResend}>
        Send another code
      </button>{' '}
      {leftMs > 0 && <span class="soft figure">in {spanText(leftMs + 999)}</span>}
    </p>
  );
}

/** Shown only in development, where the mailbox exists. */
function DevelopmentMailbox() {
  const isThere = useSignal(false);
  useEffect(() => {
    if (!['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)) return;
    void fetch('/dev/mail', { method: 'HEAD' }).then(
      ({ ok }) => (isThere.value = ok),
      () => undefined,
    );
  }, []);
  if (!isThere.value) return null;
  return (
    <p class="soft">
      No mail leaves this machine: the code is in the{' '}
      <a href="/dev/mail" target="_blank" rel="noreferrer">
        development mailbox
      </a>
      .
    </p>
  );
}

/** Whether the input came from a key. A paste or an autofill fills the field all at once. */
function isTyping({ inputType, data }: InputEvent): boolean {
  return (inputType === 'insertText' && data?.length === 1) || /^(?:insertComposition|delete)/.test(inputType ?? '');
}

function digits(text: string): string {
  return text.replaceAll(/[\s–-]/g, '');
}

function wordsOf(failure: Failure): string {
  if (failure.kind === 'refused') {
    if (failure.code === 'INVALID_REQUEST') return 'That is not six digits, or no e-mail address.';
    const wait = failure.retryAfter === undefined ? '' : ` Try again in ${spanText(failure.retryAfter * 1000)}.`;
    return failure.message + wait;
  }
  return 'The service does not answer. Try again.';
}

function retryMs(failure: Failure): number {
  return failure.kind === 'refused' && failure.retryAfter !== undefined ? failure.retryAfter * 1000 : RESEND_AFTER_MS;
}
