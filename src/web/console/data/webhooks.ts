/** Webhooks: servers that are told what happens, and what they were told. */
import type {
  deliveryDetail,
  deliveryPage,
  newWebhookReply,
  newWebhookRequest,
  OperatorDelivery,
  OperatorWebhook,
  operatorWebhooks,
  replayReply,
  webhookReply,
  webhookSecretReply,
  webhookTestReply,
} from '../../../protocol/operator/webhook.ts';
import { patch, post, remove, type Answer } from './api.ts';
import { queryText } from './query.ts';
import type { Output } from './shapes.ts';

export type Webhook = OperatorWebhook;
export type WebhookReply = Output<typeof webhookReply>;
export type Webhooks = Output<typeof operatorWebhooks>;
export type Delivery = OperatorDelivery;
export type DeliveryPage = Output<typeof deliveryPage>;
export type DeliveryDetail = Output<typeof deliveryDetail>;

export function webhookPage(id: string): string {
  return `/console/webhooks/${encodeURIComponent(id)}`;
}

export function deliveryPath({ webhook, event }: Pick<Delivery, 'webhook' | 'event'>): string {
  return `${webhookPage(webhook)}/deliveries/${event}`;
}

export function webhookApi(id: string): string {
  return `/api/operator/webhooks/${encodeURIComponent(id)}`;
}

export function addWebhook(wish: Output<typeof newWebhookRequest>): Promise<Answer<Output<typeof newWebhookReply>>> {
  return post('/api/operator/webhooks', wish);
}

export function changeWebhook(
  id: string,
  wish: { readonly url: string; readonly types: readonly string[] },
): Promise<Answer<WebhookReply>> {
  return patch(webhookApi(id), wish);
}

export function deleteWebhook(id: string, reason: string): Promise<Answer<unknown>> {
  return remove(webhookApi(id) + queryText({ reason }));
}

export function rotateWebhook(id: string, reason: string): Promise<Answer<Output<typeof webhookSecretReply>>> {
  return post(`${webhookApi(id)}/rotate`, { reason });
}

export function tryWebhook(id: string): Promise<Answer<Output<typeof webhookTestReply>>> {
  return post(`${webhookApi(id)}/test`, {});
}

export function turnWebhook(id: string, to: 'enable' | 'disable', reason?: string): Promise<Answer<unknown>> {
  return post(`${webhookApi(id)}/${to}`, { reason });
}

export function replayDelivery({ webhook, event }: Delivery): Promise<Answer<unknown>> {
  return post(`${webhookApi(webhook)}/deliveries/${event}/replay`, {});
}

/** Counts, or sends again, what a webhook was told from one instant until just before another. */
export function replayMany(
  id: string,
  asked: { readonly from: string; readonly to: string; readonly dryRun?: true; readonly expected?: number },
): Promise<Answer<Output<typeof replayReply>>> {
  return post(`${webhookApi(id)}/replay`, asked);
}
