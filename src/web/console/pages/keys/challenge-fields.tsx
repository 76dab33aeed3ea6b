/** How visitors of a new key are challenged. These fields are loaded when somebody opens them. */
import type { Signal } from '@preact/signals';
import type { ChallengeProvider } from '../../../../protocol/challenge.ts';
import type { KeyBots } from '../../../../protocol/challenge.ts';
import { SelectField, TextField } from '../../components/modal.tsx';

const PROVIDERS: Readonly<Record<ChallengeProvider, string>> = {
  turnstile: 'Turnstile',
  hcaptcha: 'hCaptcha',
  recaptcha: 'reCAPTCHA v3',
  altcha: 'ALTCHA: a proof of work, which needs nobody else',
};

const AS_USUAL = ['', 'as the installation says'] as const;

interface Props {
  /** Undefined while the installation's settings apply. The server reports combinations that do not work. */
  readonly bots: Signal<KeyBots | undefined>;
}

export function ChallengeFields({ bots }: Props) {
  const { provider, siteKey, secret, challenge, minScore } = bots.value ?? {};
  const set = (change: { readonly [Name in keyof KeyBots]: KeyBots[Name] | undefined }): void => {
    const all = Object.entries({ ...bots.peek(), ...change }).filter(([, value]) => value !== undefined);
    bots.value = all.length === 0 ? undefined : Object.fromEntries(all);
  };
  const choose = (name: string): void => {
    const of = { provider: name === '' ? undefined : (name as ChallengeProvider) };
    // Settings of one provider mean nothing to another.
    set({ ...of, siteKey: undefined, secret: undefined, ...(name !== 'recaptcha' && { minScore: undefined }) });
  };
  return (
    <div class="numbers">
      <SelectField
        label="Whose challenges"
        values={[AS_USUAL, ...Object.entries(PROVIDERS)]}
        chosen={provider ?? ''}
        onSet={choose}
      />
      {provider !== undefined && provider !== 'altcha' && (
        <>
          <TextField
            label="Site key"
            maxLength={256}
            value={siteKey ?? ''}
            onChange={({ currentTarget }) => set({ siteKey: currentTarget.value.trim() || undefined })}
          />
          <TextField
            label="Name of the tenant’s secret"
            maxLength={256}
            value={secret?.slice('${secret:'.length, -1) ?? ''}
            onChange={({ currentTarget }) => {
              const name = currentTarget.value.trim();
              set({ secret: name === '' ? undefined : `\${secret:${name}}` });
            }}
          />
        </>
      )}
      {provider === 'recaptcha' && (
        <label class="field">
          <span>
            Least score <span class="soft"> (optional)</span>
          </span>
          <input
            type="number"
            min="0"
            max="1"
            step="0.1"
            placeholder="as set for all"
            value={minScore}
            onChange={({ currentTarget: { value } }) => set({ minScore: value === '' ? undefined : Number(value) })}
          />
        </label>
      )}
      <SelectField
        label="Who is challenged"
        values={[AS_USUAL, ['suspect', 'those who are suspect, and nobody else'], ['always', 'everybody']]}
        chosen={challenge ?? ''}
        onSet={(value) => set({ challenge: value === '' ? undefined : (value as KeyBots['challenge']) })}
      />
    </div>
  );
}
