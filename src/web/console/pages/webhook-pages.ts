/** Pages of webhooks and of secrets and budgets: one file, because each window gets all pages soon. */
export { DeliveryPage } from './delivery.tsx';
export { SecretsPage } from './secrets.tsx';
export { WebhookPage } from './webhook.tsx';
export { WebhooksPage } from './webhooks.tsx';
export { WhatIfPage } from './what-if.tsx';
export { BudgetsPage } from './budgets.tsx';
