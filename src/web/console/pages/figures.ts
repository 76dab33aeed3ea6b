/** The other pages: one file, because each window gets all pages soon. */
export { ChangesPage } from './changes.tsx';
export { KeyPage } from './key.tsx';
export { KeysPage } from './keys.tsx';
export { NodesPage } from './nodes.tsx';
export { RefusalPage } from './refusal.tsx';
export { RefusalsPage } from './refusals.tsx';
export { SettingsPage } from './settings.tsx';
export { UsagePage } from './usage.tsx';
