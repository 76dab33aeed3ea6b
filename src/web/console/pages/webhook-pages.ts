/** Pages about webhooks, secrets and budgets. They share one file, because every window soon loads all pages. */
export { DeliveryPage } from './delivery.tsx';
export { SecretsPage } from './secrets.tsx';
export { WebhookPage } from './webhook.tsx';
export { WebhooksPage } from './webhooks.tsx';
export { WhatIfPage } from './what-if.tsx';
export { BudgetsPage } from './budgets.tsx';
