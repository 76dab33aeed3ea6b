import type { RetentionDays } from '../../../../config/config.ts';
import type { SettingShown } from '../../../../config/settings-shown.ts';
import { version } from '../../../../config/version.ts';
import { actorSeenBy, mayDo, RIGHTS, seesTenant, type Operator } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import type { NodeList } from '../../../node/nodes.ts';
import { operatorMe, operatorSettings, type OperatorMe } from '../../../protocol/operator/me.ts';
import type { TenantDirectory } from '../../../tenants/directory.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface MeDeps {
  readonly timeZone: string;
  readonly retentionDays: RetentionDays;
  readonly shownSettings: readonly SettingShown[];
  readonly nodes: Pick<NodeList, 'list' | 'differing'>;
  readonly directory: Pick<TenantDirectory, 'all'>;
  /** Of this process. */
  readonly configHash: string;
}

/** Nobody chooses from more. */
const MAX_NAMES = 500;

/** Who operates, and what they may do. */
export function meRoute(deps: Pick<MeDeps, 'timeZone' | 'retentionDays' | 'directory'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/me',
    operationId: 'getOperator',
    summary: 'Who operates, in which role, and what they may do',
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'Who operates',
        schema: operatorMe,
        example: {
          email: 'ops@example.com',
          role: 'operator',
          tenants: '*',
          tenantNames: [{ id: 'acme', name: 'Acme' }],
          can: [...RIGHTS],
          now: '2030-01-01T12:00:00.000Z',
          timeZone: 'UTC',
          version,
          retention: { sessions: 0, usage: 400, events: 30, audit: 0 },
        },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { actor, role, tenants } = call.operator;
        const body: OperatorMe = {
          email: actor,
          // The pipeline lets nobody else in.
          role: role as OperatorMe['role'],
          tenants: tenants === '*' ? tenants : [...tenants],
          tenantNames: namesShown(call.operator, deps.directory),
          can: RIGHTS.filter((right) => mayDo(role, right)),
          now: iso(call.request.atMs),
          timeZone: deps.timeZone,
          version,
          retention: { ...deps.retentionDays },
        };
        return { status: 200, body };
      }),
  });
}

function namesShown(operator: Operator, directory: MeDeps['directory']): OperatorMe['tenantNames'] {
  return directory
    .all()
    .filter(({ id }) => seesTenant(operator, id))
    .map(({ id, name }) => ({ id, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
    .slice(0, MAX_NAMES);
}

/** The variables of this node, without what is secret. */
export function settingsRoute(deps: Pick<MeDeps, 'shownSettings' | 'nodes' | 'configHash'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/settings',
    operationId: 'getSettings',
    summary: 'The variables of the node that answers, without what is secret',
    tag: TAG,
    access: 'operator',
    right: 'see-installation',
    replies: {
      200: {
        description: 'The variables',
        schema: operatorSettings,
        example: {
          settings: [
            { name: 'MAX_SESSION_MINUTES', value: '15', isSecret: false, isSet: false, default: '15' },
            { name: 'JWT_SECRET', value: null, isSecret: true, isSet: true, default: 'development: a random one' },
          ],
          differs: [],
          nodes: [{ id: 'Jm4c0Vb1T2yq8s5nXk9ZwA', host: 'voice-2', isSame: true }],
        },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const nodes = deps.nodes
          .list()
          .map(({ id, host, configHash }) => ({ id, host, isSame: configHash === deps.configHash }));
        const settings = deps.shownSettings.map((one) => ({ ...one, value: seenBy(call.operator, one.value) }));
        return { status: 200, body: { settings, differs: deps.nodes.differing(), nodes } };
      }),
  });
}

/** Addresses in a value as the audit shows them. */
function seenBy(operator: Operator, value: string | null): string | null {
  return value?.replaceAll(/[^\s,<>"]+@[^\s,<>"]+/g, (address) => actorSeenBy(operator, address)) ?? null;
}
