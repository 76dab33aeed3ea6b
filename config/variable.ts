import type { z } from 'zod';

/** One environment variable: how its text is read, and all that help, messages, `check-config` and the documentation tell of it. */
export interface Variable<N extends string = string, T = unknown> {
  readonly name: N;
  readonly schema: z.ZodType<T>;
  /** The text that counts where it is not set; without one it is then undefined. */
  readonly default: string | undefined;
  /** What holds where it is not set, in words. */
  readonly unset: string;
  readonly meaning: string;
  /** A value in the place of which a reader puts an own one. */
  readonly example: string;
  /** Production refuses to start without it. */
  readonly production: boolean;
  /** More than one of WORKERS refuse to start without it. */
  readonly workers: boolean;
  /** The choice that it belongs to, or several (`NAME=one|other`): who chooses so needs it, who chooses otherwise does not. */
  readonly neededBy?: `${string}=${string}`;
  /** What must never be printed: all of it, or what an address (or each of a list) holds beside scheme and host. */
  readonly secret: false | 'all' | 'in address' | 'in addresses';
}

interface Unset {
  readonly unset: string;
}

/** Describes a variable; `fallback` is its default, or what holds without one. */
export function variable<const N extends string, T, F extends string | Unset>(
  name: N,
  schema: z.ZodType<T>,
  fallback: F,
  meaning: string,
  more: Partial<Pick<Variable, 'unset' | 'example' | 'production' | 'workers' | 'neededBy' | 'secret'>> = {},
): Variable<N, F extends string ? T : T | undefined> {
  const text = typeof fallback === 'string' ? fallback : undefined;
  const unset = typeof fallback === 'string' ? fallback : fallback.unset;
  const needed = { production: false, workers: false };
  return { name, schema, default: text, unset, meaning, example: unset, ...needed, secret: false, ...more };
}

/** Variables by the fields that their values have in `Config`. */
export interface Fields {
  readonly [field: string]: Variable | Fields;
}

/** What the variables of the fields are read to. */
export type ValuesOf<F> = F extends Variable<string, infer T> ? T : { readonly [K in keyof F]: ValuesOf<F[K]> };

/** The names of the variables of the fields. */
export type NamesOf<F> = F extends Variable<infer N> ? N : { [K in keyof F]: NamesOf<F[K]> }[keyof F];

function isVariable(field: Variable | Fields): field is Variable {
  return typeof field['name'] === 'string';
}

/** The variables of the fields, in their order. */
export function variablesOf(fields: Fields): Variable[] {
  return Object.values(fields).flatMap((field) => (isVariable(field) ? [field] : variablesOf(field)));
}

/** The fields with a value for each variable. */
export function mapVariables<F extends Fields>(fields: F, valueOf: (variable: Variable) => unknown): ValuesOf<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    isVariable(field) ? valueOf(field) : mapVariables(field, valueOf),
  ]);
  return Object.fromEntries(entries) as ValuesOf<F>;
}
