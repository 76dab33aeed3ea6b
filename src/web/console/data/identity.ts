/** Who looks at the console, and what they may. The server decides each time: this only hides what would be refused. */
import { computed, signal } from '@preact/signals';
import type { OperatorMe } from '../../../protocol/operator/me.ts';
import { get, isForbidden, isLoginLost, post, type Answer } from './api.ts';

export type Access = 'unknown' | 'away' | 'nobody' | 'forbidden' | 'granted';
export type Right = OperatorMe['can'][number];

export const access = signal<Access>('unknown');
/** Undefined without a role. */
export const me = signal<OperatorMe | undefined>(undefined);
/** The address of a login that has no role. */
export const stranger = signal<string | undefined>(undefined);

/** Whether they have a right. */
export function may(right: Right): boolean {
  return me.value?.can.includes(right) ?? false;
}

/** Whether they may end sessions, and issue and revoke keys. */
export const mayChange = computed(() => may('change'));

/** Whether they may look for an address: who sees no whole id may not. */
export const mayFindAddresses = computed(isOfInstallation);

/** Whether a key that they issue may be open. */
export const mayOpenKeys = computed(isOfInstallation);

/** Whether budgets and webhooks that they make may be of the whole installation. */
export const mayBoundAll = computed(isOfInstallation);

function isOfInstallation(): boolean {
  return me.value?.role === 'operator' || me.value?.role === 'service';
}

/** Asks the server, and knows afterwards. */
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

/** Ends the login and leaves: nothing of what was shown stays in the page. */
export async function logOut(): Promise<void> {
  await post('/api/auth/logout', {});
  location.assign('/console/login');
}
