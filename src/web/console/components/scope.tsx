import { useLocation } from 'preact-iso';
import { me } from '../data/identity.ts';
import { inScope, otherScope, scopeOf } from '../data/scope.ts';
import { Choice } from './filter-fields.tsx';

/** The tenant in the address, empty for all, and a function that adds it to links. */
export function useScope() {
  const { path, query } = useLocation();
  const tenantId = scopeOf(path, query);
  return { tenantId, to: (href: string): string => inScope(href, tenantId) };
}

/** Chooses whose sessions, refusals, usage, keys and audit are shown. Operators of a single tenant have nothing to choose. */
export function ScopeChoice() {
  const { path, query, route } = useLocation();
  const { tenantId } = useScope();
  const tenants = me.value?.tenantNames ?? [];
  if (tenants.length < 2 && tenantId === '') return null;
  return (
    <Choice
      label="Scope"
      none="All tenants"
      value={tenantId}
      values={tenants.map(({ id, name }) => [id, name] as const)}
      onSet={(chosen) => route(otherScope(path, query, chosen))}
    />
  );
}
