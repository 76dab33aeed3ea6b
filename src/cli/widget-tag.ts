import type { WidgetKey } from '../stores/tenants/contract.ts';

/**
 * What a page has to hold for a key to work there, to be pasted. Ids and keys have no character that HTML would take for its own.
 * @param agentId of the agent that the page talks with, where one is known
 */
export function widgetTag(publicUrl: string, { key, tenantId }: WidgetKey, agentId: string | undefined): string {
  const agent = agentId === undefined ? '' : ` agent-id="${agentId}"`;
  return [
    `<script src="${publicUrl}/switchboard-widget.js" defer></script>`,
    `<switchboard-widget widget-key="${key}" tenant-id="${tenantId}"${agent}></switchboard-widget>`,
  ].join('\n');
}
