// Budgets of every kind, so large that no run uses one up.

/** The first three are the least that an operator has; all together are the most that goal P18 covers. */
const kinds = ({ keyId, agentId }) => [
  { of: 'tenant', period: 'month', dollars: 1e9 },
  { of: `key:${keyId}`, period: 'day', tokens: 1e15 },
  { of: 'user', period: 'day', dollars: 1e9 },
  { of: `agent:${agentId}`, period: 'month', dollars: 1e9 },
  { of: 'tenant', period: 'day', tokens: 1e15 },
  { of: `key:${keyId}`, period: 'week', dollars: 1e9 },
  { of: 'user', period: 'month', tokens: 1e15 },
  { of: 'tenant', period: 'session', dollars: 1e9 },
  { of: 'tenant', period: 'once', minutes: 1e9 },
  { of: 'installation', period: 'month', dollars: 1e9 },
];

/** The numbers of budgets that are compared. */
export const COUNTS = [0, 3, 10];

/** Creates the first `count` of them for a tenant. @param whose `tenantId`, `keyId` and `agentId` */
export async function makeBudgets(port, token, whose, count) {
  for (const [n, kind] of kinds(whose).slice(0, count).entries()) {
    const tenant = kind.of === 'installation' ? {} : { tenantId: whose.tenantId };
    const reply = await fetch(`http://127.0.0.1:${port}/api/operator/budgets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...tenant, id: `b${n}`, ...kind }),
    });
    if (reply.status !== 201) throw new Error(`the budget of ${kind.of} was refused: ${await reply.text()}`);
  }
}
