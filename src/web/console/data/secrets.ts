/** The secrets of tenants, with which Switchboard proves itself to the servers of their tools. */
import type {
  OperatorSecret,
  operatorSecrets,
  setSecretReply,
  setSecretRequest,
  signingSecretReply,
} from '../../../protocol/operator/secret.ts';
import { post, type Answer } from './api.ts';
import type { Output } from './shapes.ts';
import type { done } from '../../../protocol/values.ts';

export type Secrets = Output<typeof operatorSecrets>;
export type SecretTenant = Secrets['tenants'][number];

export function setSecret(secret: Output<typeof setSecretRequest>): Promise<Answer<Output<typeof setSecretReply>>> {
  return post('/api/operator/secrets', secret);
}

export function deleteSecret(
  { tenantId, name }: Pick<OperatorSecret, 'tenantId' | 'name'>,
  reason: string,
): Promise<Answer<Output<typeof done>>> {
  return post(`/api/operator/secrets/${encodeURIComponent(name)}/delete`, { tenantId, reason });
}

export function makeSigningSecret(
  tenantId: string,
  reason: string,
): Promise<Answer<Output<typeof signingSecretReply>>> {
  return post('/api/operator/secrets/signing', { tenantId, reason });
}
