import type { TenantsFile } from '../../support/world.ts';

/** Short enough for whole lives of sessions within a minute. */
export const limits = {
  maxMinutes: 1,
  maxIdleSec: 6,
  staleGraceSec: 9,
  staleReapSec: 4,
  concurrentSessions: 3,
  upstreamTimeoutMs: 1500,
  sidebandReadyMs: 1500,
} as const;

export const site = 'https://www.acme.example';
const keyOf = (name: string): string => `w_acme_${name}_11111111111111111111111111111111`;
export const CALL_MODEL = 'gpt-realtime-2.1';
export const tenantId = 'acme';
export const siteKey = keyOf('site');
/** A key that will be revoked, identified by its number. */
export const passingKey = (n: number): { readonly id: string; readonly key: string } => ({
  id: `passing-${n}`,
  key: keyOf(`passing_${n}`),
});
/** A key whose users have a low daily limit. */
export const thriftyKey = keyOf('thrifty');
export const thriftyTokens = 1000;

/** @param passing the number of keys that are to be revoked */
export const tenants = (passing: number): TenantsFile => ({
  tenants: [
    {
      id: tenantId,
      widgetKeys: [
        { id: 'site', key: siteKey, origin: site },
        { id: 'thrifty', key: thriftyKey, origin: site, limits: { dailyTokens: thriftyTokens } },
        ...Array.from({ length: passing }, (_, n) => ({ ...passingKey(n), origin: site })),
      ],
      agents: [
        { id: 'support', model: CALL_MODEL, voice: 'marin', instructions: 'Help the caller.' },
        { id: 'talk', model: CALL_MODEL, voice: 'marin', instructions: 'Talk to the caller.', call: 'brokered' },
      ],
    },
  ],
});

/** With it the campaign reads the nodes' metrics. */
export const serviceToken = 'a-service-token-that-only-the-campaign-knows';

export const environment: Readonly<Record<string, string>> = {
  JWT_SECRET: 'a-secret-that-only-the-tests-know-0123456789',
  SERVICE_TOKENS: serviceToken,
  UPSTREAM_PROVIDER: 'openai',
  UPSTREAM_TIMEOUT_MS: String(limits.upstreamTimeoutMs),
  SIDEBAND_READY_MS: String(limits.sidebandReadyMs),
  CALL_GRACE_SEC: '2',
  PUBLIC_URL: 'http://localhost:3000',
  MAX_SESSION_MINUTES: String(limits.maxMinutes),
  MAX_SESSION_IDLE_SEC: String(limits.maxIdleSec),
  STALE_GRACE_SEC: String(limits.staleGraceSec),
  STALE_REAP_SEC: String(limits.staleReapSec),
  WIDGET_MAX_CONCURRENT_SESSIONS: String(limits.concurrentSessions),
  WIDGET_SESSION_PER_MIN: '1000000',
  WIDGET_MAX_TOKENS_DAILY: '1000000000000',
  WIDGET_MAX_DOLLARS_DAILY: '1000000',
  RATE_IP_PER_MIN: '1000000000',
  MAX_SOCKETS_PER_IP: '1000000',
  RATE_USER_PER_MIN: '1000000000',
};
