import type { WidgetKey } from '../stores/tenants/contract.ts';

/** One key or a list, with the field names of TENANTS_FILE beside the tenant and the times of revocation and pause (ISO 8601). */
export function keysAsJson(result: WidgetKey | readonly WidgetKey[]): string {
  return `${JSON.stringify(isList(result) ? result.map(toView) : toView(result), null, 2)}\n`;
}

function toView({ pausedAtMs, revokedAtMs, ...key }: WidgetKey): object {
  const timeOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());
  return { ...key, revoked: revokedAtMs !== null, revokedAt: timeOf(revokedAtMs), pausedAt: timeOf(pausedAtMs) };
}

/** A block of lines for each key. */
export function keysAsText(result: WidgetKey | readonly WidgetKey[]): string {
  const keys = isList(result) ? result : [result];
  return keys.length === 0 ? 'There are no keys.\n' : `${keys.map(describe).join('\n\n')}\n`;
}

function isList(result: WidgetKey | readonly WidgetKey[]): result is readonly WidgetKey[] {
  return Array.isArray(result);
}

function describe({
  tenantId,
  id,
  key,
  origin,
  label,
  agents,
  allowOverrides,
  call,
  limits,
  totals,
  pausedAtMs,
  revokedAtMs,
}: WidgetKey): string {
  const textOf = (values: object) => Object.entries(values).map(([name, value]) => `${name} ${value}`);
  const [limitTexts, totalTexts] = [textOf(limits), textOf(totals)];
  const lines = [
    `${tenantId}/${id}${label === '' ? '' : `  ${label}`}`,
    `  key        ${key}`,
    `  origin     ${origin}`,
    `  agents     ${agents === null ? 'any' : agents.join(', ')}${allowOverrides ? '' : ', no overrides'}`,
    call !== null && `  call       ${call}`,
    limitTexts.length > 0 && `  limits     ${limitTexts.join(', ')}`,
    `  totals     ${totalTexts.length > 0 ? totalTexts.join(', ') : 'none'}`,
    pausedAtMs !== null && `  paused     ${new Date(pausedAtMs).toISOString()}`,
    revokedAtMs !== null && `  revoked    ${new Date(revokedAtMs).toISOString()}`,
  ];
  return lines.filter((line) => line !== false).join('\n');
}
