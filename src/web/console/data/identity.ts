/** Who looks at the console, and whether they may. */
import { computed, signal } from '@preact/signals';
import { get, isForbidden, isLoginLost, post, type Answer } from './api.ts';
import type { Me } from './shapes.ts';

export type Access = 'unknown' | 'away' | 'nobody' | 'forbidden' | 'granted';

export const access = signal<Access>('unknown');
export const me = signal<Partial<Me> | undefined>(undefined);

/** Whether they may change anything at all: the server decides each time, this only hides what would be refused. */
export const mayChange = computed(() => {
  const can = me.value?.can;
  return can === undefined || can.includes('change') || can.includes('*');
});

/** Asks the server, and knows afterwards. */
export async function identify(): Promise<void> {
  const told = await get<Me>('/api/operator/me');
  const isOld = !told.ok && told.failure.kind === 'missing';
  // A server without /me says by another answer whether the login has a role.
  const decided: Answer<object> = isOld ? await get<object>('/api/operator/overview') : told;
  if (told.ok) me.value = told.body;
  else me.value = await readLogin();
  access.value = accessOf(decided);
  isLoginLost.value = false;
}

function accessOf(answer: Answer<object>): Access {
  if (answer.ok) return 'granted';
  if (isForbidden(answer.failure)) return 'forbidden';
  return answer.failure.kind === 'login' ? 'nobody' : 'away';
}

async function readLogin(): Promise<Partial<Me> | undefined> {
  const login = await get<{ readonly email: string }>('/api/auth/session');
  return login.ok ? { email: login.body.email } : undefined;
}

/** Ends the login and leaves: nothing of what was shown stays in the page. */
export async function logOut(): Promise<void> {
  await post('/api/auth/logout', {});
  location.assign('/console/login');
}
