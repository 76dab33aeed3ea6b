import { isSafeOrigin } from '../src/kernel/addresses.ts';
import type { Settings, VariableName } from './variables.ts';

/** One thing that is wrong with the environment. */
export interface Problem {
  readonly name: string;
  readonly message: string;
  /** A value that is valid here, if the variable's own example is not. */
  readonly example?: string;
}

/** Finds settings that are valid by themselves but contradict each other. */
export function findContradictions(settings: Settings): Problem[] {
  const { mode, upstream, calls, voice, publicUrl, consoleEmails, operatorEmails, viewerEmails } = settings;
  const problems: Problem[] = [];
  const add = (name: VariableName, message: string, example?: string) =>
    problems.push({ name, message, ...(example !== undefined && { example }) });
  const isProduction = mode === 'production';
  if (upstream.provider === 'local' && isProduction)
    add('UPSTREAM_PROVIDER', 'local is a simulation and not for production');
  if (upstream.provider === 'openai-live' && calls.mode === 'direct')
    add('CALL_MODE', 'must be brokered with UPSTREAM_PROVIDER=openai-live, which has no client secrets', 'brokered');
  if (upstream.provider === 'livekit') findLiveKitFaults(settings, add);
  if (voice.staleGraceSec < voice.maxIdleSec) add('STALE_GRACE_SEC', 'must not be less than MAX_SESSION_IDLE_SEC');
  if (isProduction && consoleEmails?.includes('*') === true) {
    if (operatorEmails?.includes('*') === true)
      add(
        'OPERATOR_EMAILS',
        'must not be * in production while CONSOLE_EMAILS=* lets everybody log in: list the operators',
      );
    if (viewerEmails.includes('*'))
      add(
        'VIEWER_EMAILS',
        'must not be * in production while CONSOLE_EMAILS=* lets everybody log in: list the viewers',
      );
  }
  if (isProduction && settings.inspect) add('INSPECT', 'is for development: it must not be true in production');
  if (isProduction && publicUrl !== undefined && !isSafeOrigin(publicUrl))
    add('PUBLIC_URL', 'must start with https:// in production (http:// is only for localhost)');
  return problems;
}

/** LiveKit itself requires secrets of this length. */
const LIVEKIT_SECRET_CHARACTERS = 32;

function findLiveKitFaults(
  { mode, upstream: { liveKitUrl, liveKitApiKeys, liveKitApiSecrets } }: Settings,
  add: (name: VariableName, message: string, example?: string) => unknown,
): void {
  const isProduction = mode === 'production';
  const { protocol, host } = new URL(liveKitUrl ?? 'wss://unset.example');
  const isSecure = protocol === 'wss:' || isSafeOrigin(`${protocol.replace('ws', 'http')}//${host}`);
  if (isProduction && !isSecure)
    add(
      'LIVEKIT_URL',
      'must start with wss:// or https:// in production: browsers and our secret use it (ws:// is only for localhost)',
      'wss://example.livekit.cloud',
    );
  if (liveKitApiKeys !== undefined && liveKitApiSecrets !== undefined) {
    if (liveKitApiKeys.length !== liveKitApiSecrets.length)
      add('LIVEKIT_API_SECRET', 'must have one secret for each key of LIVEKIT_API_KEY, in the same order');
    if (isProduction && liveKitApiSecrets.some((secret) => secret.length < LIVEKIT_SECRET_CHARACTERS))
      add('LIVEKIT_API_SECRET', 'must have 32 or more characters each: who guesses one can join and end every room');
  }
}
