import { isStorable } from '../kernel/unstorable.ts';
import type { Route } from './route.ts';

/** What a path leads to. */
export interface Match {
  /** The routes of the path, by method. */
  readonly methods: ReadonlyMap<string, Route>;
  /** The Allow header of the path. */
  readonly allow: string;
  readonly params: readonly string[];
}

export const noParams: readonly string[] = [];

/** The routes by path: `fixed` ones, which are looked up, and `match` for paths with parameters, tried in the order of the list. */
export function createRouter(routes: readonly Route[]): {
  readonly fixed: ReadonlyMap<string, Match>;
  readonly match: (path: string) => Match | undefined;
} {
  const fixed = new Map<string, Match>();
  const patterns: { readonly pattern: RegExp; readonly methods: Map<string, Route> }[] = [];
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = new Map<string, Route>(
      routes.filter((route) => route.path === path).map((route) => [route.method, route]),
    );
    if (path.includes('{')) patterns.push({ pattern: toPattern(path), methods });
    else fixed.set(path, { methods, allow: allowOf(methods), params: noParams });
  }

  function match(path: string): Match | undefined {
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { methods, allow: allowOf(methods), params: found.slice(1).map(decode) };
    }
    return undefined;
  }

  return { fixed, match };
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const names = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...names, 'OPTIONS'].join(', ');
}

/** `{name}` matches one segment of a path; `{name*}`, which comes last, matches the whole rest. */
function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{[^}]+\*\}$/, '(.+)').replace(/\{[^}]+\}/g, '([^/]+)')}$`);
}

/** A segment that cannot be decoded or stored stays as it came; it matches nothing then, because no id has a percent sign. */
function decode(segment: string): string {
  try {
    const text = decodeURIComponent(segment);
    return isStorable(text) ? text : segment;
  } catch {
    return segment;
  }
}
