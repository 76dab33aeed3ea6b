import { variables } from './variables.ts';

/** A variable as operators are shown it: a secret, and an address that may hold one, only by whether it is set. */
export interface SettingShown {
  readonly name: string;
  /** The text that counts; null for a secret, and where nothing is set. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  /** What holds where it is not set, in words. */
  readonly default: string;
}

export function describeSettings(env: NodeJS.ProcessEnv): SettingShown[] {
  return variables.map(({ name, secret, default: fallback, unset }) => {
    const text = env[name]?.trim() || undefined;
    const isSecret = secret !== false;
    return {
      name,
      value: isSecret ? null : (text ?? fallback ?? null),
      isSecret,
      isSet: text !== undefined,
      default: unset,
    };
  });
}
