/** Pages of webhooks, of secrets and of one's own logins: one file, because each window gets all pages soon. */
export { DeliveryPage } from './delivery.tsx';
export { OwnLoginsPage } from './own-logins.tsx';
export { SecretsPage } from './secrets.tsx';
export { WebhookPage } from './webhook.tsx';
export { WebhooksPage } from './webhooks.tsx';
