import { iso, isoOrNull } from '../kernel/time.ts';
import type { KeyWarning } from '../protocol/operator/key.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';
import { describeWarning } from '../tenants/key-rules.ts';

/** A key, and warnings about why it is open. */
export interface KeyShown {
  readonly key: WidgetKey;
  readonly warnings: readonly KeyWarning[];
}

/** One key or a list, with the field names of TENANTS_FILE, the tenant, the times of revocation and pause (ISO 8601), and warnings. */
export function keysAsJson(result: KeyShown | readonly KeyShown[]): string {
  return `${JSON.stringify(isList(result) ? result.map(toView) : toView(result), null, 2)}\n`;
}

function toView({ key: { pausedAtMs, revokedAtMs, ...key }, warnings }: KeyShown): object {
  return {
    ...key,
    revoked: revokedAtMs !== null,
    revokedAt: isoOrNull(revokedAtMs),
    pausedAt: isoOrNull(pausedAtMs),
    warnings,
  };
}

/** A block of lines for each key. */
export function keysAsText(result: KeyShown | readonly KeyShown[]): string {
  const keys = isList(result) ? result : [result];
  return keys.length === 0 ? 'There are no keys.\n' : `${keys.map(keyText).join('\n\n')}\n`;
}

function isList(result: KeyShown | readonly KeyShown[]): result is readonly KeyShown[] {
  return Array.isArray(result);
}

function keyText({ key: of, warnings }: KeyShown): string {
  const { tenantId, id, key, origin, label, agents, allowOverrides, call, dataChannel } = of;
  const { limits, totals, bots = {}, pausedAtMs, revokedAtMs } = of;
  const textOf = (values: object) => Object.entries(values).map(([name, value]) => `${name} ${value}`);
  const [limitTexts, totalTexts, botTexts] = [textOf(limits), textOf(totals), textOf(bots)];
  const lines = [
    `${tenantId}/${id}${label === '' ? '' : `  ${label}`}`,
    `  key        ${key}`,
    `  origin     ${origin}`,
    `  agents     ${agents === null ? 'any' : agents.join(', ')}${allowOverrides ? '' : ', no overrides'}`,
    call !== null && `  call       ${call}`,
    dataChannel !== null && `  channel    ${dataChannel}, of brokered calls`,
    limitTexts.length > 0 && `  limits     ${limitTexts.join(', ')}`,
    `  totals     ${totalTexts.length > 0 ? totalTexts.join(', ') : 'none'}`,
    botTexts.length > 0 && `  bots       ${botTexts.join(', ')}`,
    ...warnings.map((warning) => `  warning    ${describeWarning(warning)}`),
    pausedAtMs !== null && `  paused     ${iso(pausedAtMs)}`,
    revokedAtMs !== null && `  revoked    ${iso(revokedAtMs)}`,
  ];
  return lines.filter((line) => line !== false).join('\n');
}

/**
 * The HTML to paste into a page so that a key works there. Ids and keys contain no character with a meaning in HTML.
 * @param agentId the agent that the page talks with, if known
 */
export function widgetTag(publicUrl: string, { key, tenantId }: WidgetKey, agentId: string | undefined): string {
  const agent = agentId === undefined ? '' : ` agent-id="${agentId}"`;
  return [
    `<script src="${publicUrl}/switchboard-widget.js" defer></script>`,
    `<switchboard-widget widget-key="${key}" tenant-id="${tenantId}"${agent}></switchboard-widget>`,
  ].join('\n');
}
