import type { Route } from './route.ts';

export interface Match {
  /** The routes of the path by method. */
  readonly methods: ReadonlyMap<string, Route>;
  /** The Allow header of the path. */
  readonly allow: string;
  readonly params: readonly string[];
}

const noParams: readonly string[] = [];

/** Finds the routes of a path: fixed paths by one look-up, paths with parameters in the order of the list. */
export function createRouter(routes: readonly Route[]): (path: string) => Match | undefined {
  const fixed = new Map<string, Match>();
  const patterns: { readonly pattern: RegExp; readonly methods: Map<string, Route> }[] = [];
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = new Map<string, Route>(
      routes.filter((route) => route.path === path).map((route) => [route.method, route]),
    );
    if (path.includes('{')) patterns.push({ pattern: toPattern(path), methods });
    else fixed.set(path, { methods, allow: allowOf(methods), params: noParams });
  }

  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { methods, allow: allowOf(methods), params: found.slice(1).map(decode) };
    }
    return undefined;
  };
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const names = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...names, 'OPTIONS'].join(', ');
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '([^/]+)')}$`);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
