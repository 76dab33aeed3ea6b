/** The remaining pages. They share one file, because every window soon loads all pages. */
export { ChangesPage } from './changes.tsx';
export { KeyPage } from './key.tsx';
export { KeysPage } from './keys.tsx';
export { NodesPage } from './nodes.tsx';
export { RefusalPage } from './refusal.tsx';
export { RefusalsPage } from './refusals.tsx';
export { SettingsPage } from './settings.tsx';
export { UsagePage } from './usage.tsx';
