/** What operators do, in few words. An action that this version does not know is shown by its name. */
const ACTIONS: Readonly<Record<string, string>> = {
  'session.end': 'ended a session',
  'sessions.end': 'ended many sessions',
  'session.whisper': 'whispered to an agent',
  'key.issue': 'issued a key',
  'key.pause': 'paused a key',
  'key.resume': 'resumed a key',
  'key.revoke': 'revoked a key',
  'service.stop': 'stopped the service',
  'service.resume': 'resumed the service',
  'login.revoke': 'revoked a login',
  'address.lift': 'opened an address to new browsers',
  'search.address': 'looked for an address',
  'secret.set': 'set a secret',
  'secret.delete': 'deleted a secret',
  'secret.signing': 'made a signing secret',
  'webhook.create': 'added a webhook',
  'webhook.change': 'changed a webhook',
  'webhook.delete': 'deleted a webhook',
  'webhook.rotate': 'made a secret for a webhook',
  'webhook.test': 'tried a webhook',
  'webhook.enable': 'switched a webhook on',
  'webhook.disable': 'switched a webhook off',
  'webhook.replay': 'sent webhook events again',
  'budget.create': 'created a budget',
  'budget.change': 'changed a budget',
  'budget.delete': 'deleted a budget',
  'view.save': 'saved a view for a tenant',
  'view.delete': 'deleted a view of a tenant',
};

export const ACTION_NAMES = Object.keys(ACTIONS);

export function actionWords(action: string): string {
  return ACTIONS[action] ?? action;
}
