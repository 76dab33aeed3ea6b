import { Refusal, wrongField } from '../../protocol/refusal.ts';
import { resolveSessionConfig } from '../../tenants/agents.ts';
import type { CallerFound, CreateDeps, CreateStep } from './context.ts';

/** Tools that would be dropped in silence are a fault of the request; an agent's are warned of at the start. */
export const refuseTools: CreateStep = {
  name: 'tools',
  take({ input: { body } }, { provider }: Pick<CreateDeps, 'provider'>) {
    if (provider.capabilities.tools || (body.tools?.length ?? 0) === 0) return undefined;
    const message = `must be left out: calls of the provider ${provider.name} have no tools`;
    const why = { layer: 'agent', lever: 'UPSTREAM_PROVIDER', fact: 'its calls have no tools' } as const;
    return wrongField('tools', message, why);
  },
};

/** Decides what the session will be: its agent, and what of it the caller may override. */
export const chooseConfig: CreateStep = {
  name: 'agent',
  take(context: CallerFound, { calls }: Pick<CreateDeps, 'calls'>) {
    const config = resolveSessionConfig(context.tenant, context.key, context.input.body, calls.modeOf);
    if (config instanceof Refusal) return config;
    context.config = config;
    return undefined;
  },
};
