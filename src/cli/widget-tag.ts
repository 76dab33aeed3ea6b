import type { WidgetKey } from '../stores/tenants/contract.ts';

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
