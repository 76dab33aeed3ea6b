import type { z } from 'zod';

/** One environment variable: how its text is parsed, and all that the help, messages, `check-config` and the documentation say about it. */
export interface Variable<N extends string = string, T = unknown> {
  readonly name: N;
  readonly schema: z.ZodType<T>;
  /** The text that is parsed if it is not set. If there is none either, its value is undefined. */
  readonly default: string | undefined;
  /** What applies if it is not set, as a text. */
  readonly unset: string;
  readonly meaning: string;
  /** A value that readers replace with their own. */
  readonly example: string;
  /** Production refuses to start without it. */
  readonly production: boolean;
  /** The service refuses to start with more than one of WORKERS without it. */
  readonly workers: boolean;
  /** The choice, or several (`NAME=one|other`), that requires it. With another choice it is not needed. */
  readonly neededBy?: `${string}=${string}`;
  /** What must never be printed: everything, or everything except scheme and host in an address or in each of a list of addresses. */
  readonly secret: false | 'all' | 'in address' | 'in addresses';
}

interface Unset {
  readonly unset: string;
}

/** Describes a variable; `fallback` is its default, or the text for what applies without one. */
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

/** Variables, by the names of their fields in `Config`. */
export interface Fields {
  readonly [field: string]: Variable | Fields;
}

/** The type of the fields' values. */
export type ValuesOf<F> = F extends Variable<string, infer T> ? T : { readonly [K in keyof F]: ValuesOf<F[K]> };

/** The names of the fields' variables. */
export type NamesOf<F> = F extends Variable<infer N> ? N : { [K in keyof F]: NamesOf<F[K]> }[keyof F];

function isVariable(field: Variable | Fields): field is Variable {
  return typeof field['name'] === 'string';
}

/** The fields' variables, in order. */
export function variablesOf(fields: Fields): Variable[] {
  return Object.values(fields).flatMap((field) => (isVariable(field) ? [field] : variablesOf(field)));
}

/** The fields, each with its variable's value. */
export function mapVariables<F extends Fields>(fields: F, valueOf: (variable: Variable) => unknown): ValuesOf<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    isVariable(field) ? valueOf(field) : mapVariables(field, valueOf),
  ]);
  return Object.fromEntries(entries) as ValuesOf<F>;
}
