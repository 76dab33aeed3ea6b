/** What operators do. Names are never changed, because the journal keeps them. */
export const ACT_ACTIONS = [
  'session.end',
  'sessions.end',
  'session.whisper',
  'key.issue',
  'key.revoke',
  'key.pause',
  'key.resume',
  'service.stop',
  'service.resume',
  'login.revoke',
  'address.lift',
  'search.address',
  'secret.set',
  'secret.delete',
  'secret.signing',
  'webhook.create',
  'webhook.change',
  'webhook.delete',
  'webhook.rotate',
  'webhook.test',
  'webhook.enable',
  'webhook.disable',
  'webhook.replay',
  'budget.create',
  'budget.change',
  'budget.delete',
  'view.save',
  'view.delete',
] as const;

export type ActAction = (typeof ACT_ACTIONS)[number];

/** What came of it; null while that is not known, and for ever where a process died over it. */
export const ACT_RESULTS = ['done', 'unchanged', 'failed'] as const;

export type ActResult = (typeof ACT_RESULTS)[number];

export type ActRole = 'operator' | 'service' | 'viewer' | 'tenant_admin' | 'cli';

export interface ActDetail {
  /** Null for what was kept before roles were. */
  readonly role: ActRole | null;
  readonly reason: string | null;
  readonly result: ActResult | null;
  /** How many it concerned, where that is said. */
  readonly count: number | null;
}
