import { variables } from './variables.ts';

/** A variable as operators see it. For a secret, and for an address that may contain one, they see only whether it is set. */
export interface SettingShown {
  readonly name: string;
  /** The value in effect as text; null for a secret, and if nothing is set. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  /** What applies if it is not set, as a text. */
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
