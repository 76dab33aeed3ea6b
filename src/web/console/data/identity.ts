/** Who uses the console, and what they may do. The server decides each time; this only hides what it would refuse. */
import { computed, signal } from '@preact/signals';
import type { OperatorMe } from '../../../protocol/operator/me.ts';
import { get, isForbidden, isLoginLost, post, type Answer } from './api.ts';

export type Access = 'unknown' | 'away' | 'nobody' | 'forbidden' | 'granted';
export type Right = OperatorMe['can'][number];

export const access = signal<Access>('unknown');
/** The operator; undefined for somebody without a role. */
export const me = signal<OperatorMe | undefined>(undefined);
/** The e-mail address of somebody who is logged in without a role. */
export const stranger = signal<string | undefined>(undefined);

/** Whether the operator has a right. */
export function may(right: Right): boolean {
  return me.value?.can.includes(right) ?? false;
}

/** Whether the operator may end sessions, and issue and revoke keys. */
export const mayChange = computed(() => may('change'));

/**
 * Whether the operator is one of the whole installation. Only these search for e-mail addresses, issue open keys, and create budgets and webhooks
 * for all tenants.
 */
export const isOfInstallation = computed(() => me.value?.role === 'operator' || me.value?.role === 'service');

/** Asks the server who the operator is. */
export async function identify(): Promise<void> {
  const told = await get<OperatorMe>('/api/operator/me');
  if (told.ok) me.value = told.body;
  const found = accessOf(told);
  if (found === 'forbidden') stranger.value = await readLogin();
  access.value = found;
  isLoginLost.value = false;
}

function accessOf(answer: Answer<OperatorMe>): Access {
  if (answer.ok) return 'granted';
  if (isForbidden(answer.failure)) return 'forbidden';
  return answer.failure.kind === 'login' ? 'nobody' : 'away';
}

async function readLogin(): Promise<string | undefined> {
  const login = await get<{ readonly email: string }>('/api/auth/session');
  return login.ok ? login.body.email : undefined;
}

/** Ends the login and leaves the page, so that nothing that was shown remains in it. */
export async function logOut(): Promise<void> {
  await post('/api/auth/logout', {});
  location.assign('/console/login');
}

const HOME = '/console';
const LOGIN = '/console/login';

/** Where to go after the login: always a path of the console, whatever the address asks for. */
export function nextPath(wanted: string | null | undefined): string {
  if (!wanted || !URL.canParse(wanted, location.origin)) return HOME;
  const url = new URL(wanted, location.origin);
  const isOurs = url.origin === location.origin && (url.pathname === HOME || url.pathname.startsWith(`${HOME}/`));
  if (!isOurs || url.pathname === LOGIN) return HOME;
  return `${url.pathname}${url.search}`;
}

/** The address of the login page that leads back to `from`. */
export function loginPath(from: string): string {
  const next = nextPath(from);
  return next === HOME ? LOGIN : `${LOGIN}?next=${encodeURIComponent(next)}`;
}
