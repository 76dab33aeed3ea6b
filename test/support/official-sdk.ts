import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/** The provider's own SDK, `@openai/agents-realtime`, bundled for browsers as JavaScript that defines the global `Official`. */
export async function bundleOfficialSdk(): Promise<string> {
  const { output } = await build({
    input: fileURLToPath(new URL('../browser/children/official-sdk.ts', import.meta.url)),
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    output: { format: 'iife', name: 'Official' },
  });
  return `${output[0].code};globalThis.Official = Official;`;
}
