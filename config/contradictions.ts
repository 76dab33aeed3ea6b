import { isSafeOrigin } from './variables.ts';

/** The settings that depend on each other. */
interface Related {
  readonly NODE_ENV: string;
  readonly PUBLIC_URL: string | undefined;
  readonly WORKERS: number;
  readonly DATABASE_URL: string | undefined;
  readonly REDIS_URL: readonly string[] | undefined;
  readonly UPSTREAM_PROVIDER: string | undefined;
  readonly OPENAI_API_KEY: string | undefined;
  readonly CONSOLE_EMAILS: readonly string[] | undefined;
  readonly OPERATOR_EMAILS: readonly string[] | undefined;
  readonly BOT_PROVIDER: string | undefined;
  readonly BOT_VERDICT_URL: string | undefined;
  readonly STALE_GRACE_SEC: number;
  readonly MAX_SESSION_IDLE_SEC: number;
}

interface Contradiction {
  readonly name: keyof Related;
  readonly message: string;
}

/** Settings that are right by themselves and wrong together. */
export function findContradictions(settings: Related): Contradiction[] {
  const problems: Contradiction[] = [];
  const add = (name: keyof Related, message: string) => problems.push({ name, message });
  const isProduction = settings.NODE_ENV === 'production';
  if (settings.BOT_PROVIDER === 'http' && settings.BOT_VERDICT_URL === undefined)
    add('BOT_VERDICT_URL', 'is missing and BOT_PROVIDER=http needs it');
  if (settings.UPSTREAM_PROVIDER === 'openai' && settings.OPENAI_API_KEY === undefined && !isProduction)
    add('OPENAI_API_KEY', 'is missing and UPSTREAM_PROVIDER=openai needs it');
  if (settings.UPSTREAM_PROVIDER === 'local' && isProduction)
    add('UPSTREAM_PROVIDER', 'local is a simulation and not for production');
  if (settings.WORKERS > 1 && !isProduction)
    for (const name of ['DATABASE_URL', 'REDIS_URL'] as const)
      if (settings[name] === undefined) add(name, 'is missing and more than one of WORKERS need it');
  if (settings.STALE_GRACE_SEC < settings.MAX_SESSION_IDLE_SEC)
    add('STALE_GRACE_SEC', 'must not be less than MAX_SESSION_IDLE_SEC');
  if (
    isProduction &&
    settings.CONSOLE_EMAILS?.includes('*') === true &&
    settings.OPERATOR_EMAILS?.includes('*') === true
  )
    add(
      'OPERATOR_EMAILS',
      'must not be * in production while CONSOLE_EMAILS=* lets everybody log in: list the operators',
    );
  if (isProduction && settings.PUBLIC_URL !== undefined && !isSafeOrigin(settings.PUBLIC_URL))
    add('PUBLIC_URL', 'must start with https:// in production (http:// is only for localhost)');
  return problems;
}
