/** What the demo page must know before it can start: the reply of /demo/config.json. */
export interface DemoConfig {
  /** Null where no demo key is left (production): then the page's address names one. */
  readonly widgetKey: string | null;
  readonly tenantId: string | null;
  readonly agentId: string | null;
  /** The only origin from which the key works. */
  readonly keyOrigin: string | null;
  readonly provider: { readonly name: string; readonly simulated: boolean };
}
