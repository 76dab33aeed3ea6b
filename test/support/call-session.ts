import type { SessionSetup } from '../../src/stores/session-setups/contract.ts';

/** The terms of a session for a key of `acme` whose calls Switchboard opens and hears itself. */
export function brokeredTerms(id: string) {
  return {
    id,
    subject: id.slice(2, 34),
    caller: 'widget',
    tenantId: 'acme',
    agentId: null,
    keyId: 'site',
    named: false,
    loginId: null,
    provider: 'fake',
    upstreamId: 'sess_1',
    isHeard: true,
  } as const;
}

/** The setup with which such a session is created. */
export function brokeredSetup(sessionId: string, createdAtMs: number): SessionSetup {
  return {
    sessionId,
    callMode: 'brokered',
    model: 'echo',
    voice: 'marin',
    instructions: null,
    tools: [],
    behaviour: null,
    dataChannel: 'open',
    forbidsOverrides: true,
    price: null,
    metadata: null,
    sealedContext: null,
    agentVersion: null,
    trace: null,
    createdAtMs,
  };
}
