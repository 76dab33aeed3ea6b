/** What the operator API answers, without any whole session id: it would let its reader act for the session, and no view needs it. */
import type { ownLogins } from '../../../protocol/login.ts';
import type { OperatorBudget, operatorBudgets } from '../../../protocol/operator/budget.ts';
import type { operatorChallengeDetail, operatorLoginDetail } from '../../../protocol/operator/login.ts';
import type { operatorKeys } from '../../../protocol/operator/key.ts';
import type { operatorSecrets } from '../../../protocol/operator/secret.ts';
import type { activitySeries, OperatorChanges } from '../../../protocol/operator/overview.ts';
import type {
  deliveryDetail,
  deliveryPage,
  OperatorDelivery,
  OperatorWebhook,
  operatorWebhooks,
  webhookReply,
} from '../../../protocol/operator/webhook.ts';
import type { DependencyState, OperatorNode, operatorNodes } from '../../../protocol/operator/node.ts';
import type {
  exactRefusal,
  OperatorRefusal,
  operatorRefusalPage,
  refusalMinute,
} from '../../../protocol/operator/refusal.ts';
import type { OperatorUsageRow, usageReportReply } from '../../../protocol/operator/usage.ts';
import type { reconciliationReply } from '../../../protocol/operator/reconciliation.ts';
import type { whatIfReply } from '../../../protocol/operator/what-if.ts';
import type { ListedOperatorCall, listedCallDetail, operatorCallPage } from '../../../protocol/operator/call.ts';
import type { OperatorEvent, operatorEventPage } from '../../../protocol/operator/event.ts';
import type { overview } from '../../../protocol/operator/overview.ts';
import type {
  OperatorSession,
  operatorSessionDetail,
  operatorSessionPage,
} from '../../../protocol/operator/session.ts';

/** The type of a reply, from its schema in the protocol. */
export type Output<S extends { readonly _zod: { readonly output: unknown } }> = S['_zod']['output'];

export type { OperatorEvent };

export type State = OperatorSession['state'];

export type Session = Omit<OperatorSession, 'id'>;

export type SessionPage = Omit<Output<typeof operatorSessionPage>, 'sessions'> & {
  readonly sessions: readonly Session[];
};

type Detail = Output<typeof operatorSessionDetail>;

export type SessionDetail = Omit<Detail, 'id'>;

export type Call = Detail['calls'][number];

export type CallDetail = Output<typeof listedCallDetail>;
export type ListedCall = ListedOperatorCall;
export type CallList = Output<typeof operatorCallPage>;

export type EventPage = Output<typeof operatorEventPage>;

export type Overview = Output<typeof overview>;
export type Activity = NonNullable<Overview['activity']>['day'];
export type ActivitySeries = Output<typeof activitySeries>;
export type Node = OperatorNode;
export type Dependency = DependencyState;
export type NodeList = Output<typeof operatorNodes>;

export type Refusal = OperatorRefusal;
export type RefusalPage = Output<typeof operatorRefusalPage>;
export type RefusalMinute = Output<typeof refusalMinute>;
export type FoundRefusal = Output<typeof exactRefusal> | RefusalMinute;

export type UsageReport = Output<typeof usageReportReply>;
export type UsageRow = OperatorUsageRow;
export type WhatIf = Output<typeof whatIfReply>;
export type Reconciliation = Output<typeof reconciliationReply>;
export type ReconciledDay = Reconciliation['days'][number];

export type Changes = OperatorChanges;

export type OwnLogins = Output<typeof ownLogins>;
export type LoginDetail = Output<typeof operatorLoginDetail>;
export type ChallengeDetail = Output<typeof operatorChallengeDetail>;

export type Secrets = Output<typeof operatorSecrets>;
export type SecretTenant = Secrets['tenants'][number];

export type Budgets = Output<typeof operatorBudgets>;
export type Budget = OperatorBudget;
export type BudgetTenant = Budgets['tenants'][number];
export type BudgetFact = Budgets['facts'][number];

export type Keys = Output<typeof operatorKeys>;
export type KeyTenant = Keys['tenants'][number];

export type Webhook = OperatorWebhook;
export type WebhookReply = Output<typeof webhookReply>;
export type Webhooks = Output<typeof operatorWebhooks>;
export type Delivery = OperatorDelivery;
export type DeliveryPage = Output<typeof deliveryPage>;
export type DeliveryDetail = Output<typeof deliveryDetail>;
