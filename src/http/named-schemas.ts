import { callTerms } from '../protocol/call.ts';
import { agentTerms, clientSecret, createReply, createRequest } from '../protocol/create.ts';
import { errorBody } from '../protocol/errors/error-body.ts';
import { authSession } from '../protocol/login.ts';
import { auditRow } from '../protocol/operator/audit.ts';
import { operatorBudget } from '../protocol/operator/budget.ts';
import { operatorCall, tokensByClass } from '../protocol/operator/call.ts';
import { operatorEvent } from '../protocol/operator/event.ts';
import { operatorKey } from '../protocol/operator/key.ts';
import { chart } from '../protocol/operator/machine.ts';
import { operatorNode } from '../protocol/operator/node.ts';
import { operatorRefusal } from '../protocol/operator/refusal.ts';
import { operatorSession } from '../protocol/operator/session.ts';
import { operatorDelivery, operatorWebhook } from '../protocol/operator/webhook.ts';
import { sessionView } from '../protocol/session.ts';
import { usage } from '../protocol/usage.ts';

/** Schemas that have a name in the OpenAPI document, so that generated clients name them too and the reference describes each once. */
export const namedSchemas = {
  CreateSessionRequest: createRequest,
  CreateSessionReply: createReply,
  ClientSecret: clientSecret,
  AgentTerms: agentTerms,
  CallTerms: callTerms,
  Error: errorBody,
  UsageTotals: usage,
  LiveSession: sessionView,
  AuthSession: authSession,
  OperatorSession: operatorSession,
  OperatorEvent: operatorEvent,
  OperatorCall: operatorCall,
  TokensByClass: tokensByClass,
  AuditRow: auditRow,
  Refusal: operatorRefusal,
  Process: operatorNode,
  Budget: operatorBudget,
  WidgetKey: operatorKey,
  Webhook: operatorWebhook,
  WebhookDelivery: operatorDelivery,
  MachineChart: chart,
};
