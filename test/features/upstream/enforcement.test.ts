import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, type Config } from '../../../config/config.ts';
import { variables } from '../../../config/variables.ts';
import { requireBrokering } from '../../../src/app/file-faults.ts';
import type { CallMode } from '../../../src/protocol/call.ts';
import { describeEnforcement } from '../../../src/upstream/enforcement.ts';
import { EchoProvider } from '../../../src/upstream/echo.ts';
import { selectProvider } from '../../../src/upstream/select.ts';

const keys = {
  OPENAI_API_KEY: 'k',
  AZURE_OPENAI_ENDPOINT: 'https://example.openai.azure.com',
  AZURE_OPENAI_API_KEY: 'k',
  GEMINI_API_KEY: 'k',
  ASSEMBLYAI_API_KEY: 'k',
  LIVEKIT_URL: 'wss://example.livekit.cloud',
  LIVEKIT_API_KEY: 'k',
  LIVEKIT_API_SECRET: 's',
};
const modes: readonly CallMode[] = ['direct', 'brokered'];

/** All choices for UPSTREAM_PROVIDER, taken from the message about an invalid one. */
const names = (() => {
  const schema = variables.find(({ name }) => name === 'UPSTREAM_PROVIDER')?.schema;
  const message = schema?.safeParse('?').error?.issues[0]?.message ?? '';
  return message.replace('must be one of ', '').split(', ');
})();

/** The settings for a provider in a mode; undefined if the service would refuse to start with them. */
function configOf(provider: string, mode: CallMode, more: NodeJS.ProcessEnv = {}): Config | undefined {
  try {
    const config = readConfig({ ...keys, UPSTREAM_PROVIDER: provider, CALL_MODE: mode, ...more });
    requireBrokering(config, selectProvider(config.upstream));
    return config;
  } catch (error) {
    if (error instanceof ConfigError && error.message.includes('CALL_MODE')) return undefined;
    throw error;
  }
}

const capabilitiesOf = ({ upstream }: Config) => selectProvider(upstream).capabilities;

interface Row {
  readonly title: string;
  readonly mode: CallMode;
  readonly config: Config;
}

const rows: readonly Row[] = names.flatMap((name) =>
  modes.flatMap((mode) =>
    variantsOf(name).flatMap(({ title, more }) => {
      const config = configOf(name, mode, more);
      return config === undefined ? [] : [{ title, mode, config }];
    }),
  ),
);

function variantsOf(name: string): { readonly title: string; readonly more?: NodeJS.ProcessEnv }[] {
  const held = { title: `${name}, \`LIVE_SIDEBAND=hold\``, more: { LIVE_SIDEBAND: 'hold' } };
  return name === 'openai-live' ? [{ title: name }, held] : [{ title: name }];
}

function markdown(): string {
  const lines = rows.map(({ title, mode, config }) => {
    const { opens, end, cap, meter, lock } = describeEnforcement(capabilitiesOf(config), mode);
    return `| ${[title, mode, opens, end, cap, meter, lock].join(' | ')} |`;
  });
  const never = (): Promise<never> => Promise.reject(new Error('no call is opened here'));
  const echo = describeEnforcement(new EchoProvider(never, { clientSecretTtlSec: 60 }).capabilities, 'brokered');
  lines.push(`| ${['local, in development', 'either', ...Object.values(echo)].join(' | ')} |`);
  return [
    '| provider | `CALL_MODE` | who opens the call | the end of a session ends it | what bounds it | who tells its cost | setup locked |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

describe('What is enforced', () => {
  // After changing a provider, update the table with `npx vitest run test/features/upstream/enforcement.test.ts -u`.
  test('is told by the table of docs/providers.md, for each provider and mode', async () => {
    const file = fileURLToPath(new URL('../../../docs/providers.md', import.meta.url));
    const [before, rest = ''] = readFileSync(file, 'utf8').split('<!-- enforcement -->\n');
    const after = rest.split('<!-- /enforcement -->')[1];
    expect(after).toBeDefined();
    await expect(`${before}<!-- enforcement -->\n\n${markdown()}\n\n<!-- /enforcement -->${after}`).toMatchFileSnapshot(
      file,
    );
  });

  test('covers every choice of a provider', () => {
    expect(names.length).toBeGreaterThan(5);
    expect([...new Set(rows.map(({ config }) => config.upstream.provider))]).toEqual(names);
  });

  test('is never brokered where a provider declares that only browsers open its calls, and always can be where it brokers', () => {
    const starts = (name: string, mode: CallMode): boolean => configOf(name, mode) !== undefined;
    for (const name of names) {
      const config = configOf(name, 'direct') ?? configOf(name, 'brokered');
      if (config === undefined) throw new Error(`${name} starts in no mode`);
      const { call } = capabilitiesOf(config);
      expect(starts(name, 'brokered'), name).toBe(call === 'brokered');
      expect(starts(name, 'direct') || call === 'brokered', name).toBe(true);
    }
  });

  test('is an end only where Switchboard can hang up, and a meter only where it hears or counts itself', () => {
    for (const { mode, config } of rows) {
      const capabilities = capabilitiesOf(config);
      if (capabilities.call === 'none') continue;
      const { end, meter } = describeEnforcement(capabilities, mode);
      const isHeld = mode === 'brokered' || capabilities.returnSec !== undefined;
      expect(end.startsWith('real')).toBe(isHeld && capabilities.hangUp !== 'none');
      expect(meter.startsWith('advisory')).toBe(!isHeld || capabilities.meter === 'none');
    }
  });

  test('of a brokered provider without a hang-up or a meter is told as advisory', () => {
    const weak = {
      call: 'brokered',
      hangUp: 'none',
      lockConfig: false,
      capDuration: null,
      meter: 'none',
      converses: true,
      tools: true,
    } as const;
    expect(describeEnforcement({ ...weak, providerMaxSec: 3600 }, 'brokered')).toMatchObject({
      end: expect.stringMatching(/^advisory/) as string,
      cap: "the provider's own: 60 min",
      meter: expect.stringMatching(/^advisory/) as string,
    });
  });
});
