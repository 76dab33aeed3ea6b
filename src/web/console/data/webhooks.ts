/** Webhooks: servers that are told what happens, and what they were told. */
import type {
  deliveryDetail,
  deliveryPage,
  OperatorDelivery,
  OperatorWebhook,
  operatorWebhooks,
  webhookReply,
} from '../../../protocol/operator/webhook.ts';
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
