/** What operators do. Names must never change, because the journal keeps them. */
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

/** The result of an act; null while it is not known, and forever if the process died during the act. */
export const ACT_RESULTS = ['done', 'unchanged', 'failed'] as const;

export type ActResult = (typeof ACT_RESULTS)[number];

export type ActRole = 'operator' | 'service' | 'viewer' | 'tenant_admin' | 'cli';

export interface ActDetail {
  /** Null for entries that are older than roles. */
  readonly role: ActRole | null;
  readonly reason: string | null;
  readonly result: ActResult | null;
  /** How many things the act affected, if that was reported. */
  readonly count: number | null;
  /** Only of a whisper: a keyed hash of its text. */
  readonly textHash?: string;
}
