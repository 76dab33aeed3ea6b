import { Refusal, wrongField, wrongFields } from '../../../protocol/refusal.ts';
import type { RoomTokenRequest } from '../../../protocol/vendor-paths.ts';
import type { WidgetKey } from '../../../stores/tenants/contract.ts';
import type { CreateInput } from '../../../voice/create/step.ts';
import type { Call } from '../../route.ts';
import type { Services } from '../../services.ts';
import { bearerOf, findTenant } from './caller.ts';

type RoomCall = Call<RoomTokenRequest>;

/** The id of the tenant's agent that has the requested LiveKit agent name; undefined where none is requested. */
export function findRoomAgent(call: RoomCall, services: Pick<Services, 'tenants'>): string | undefined | Refusal {
  const agentName = call.body?.room_config?.agents?.[0]?.agent_name;
  if (agentName === undefined || agentName === '') return undefined;
  const tenant = call.isService ? findTenant(call, services) : services.tenants.keyOf(bearerOf(call) ?? '')?.tenant;
  // Without a valid key the create refuses the request.
  if (tenant === undefined || tenant instanceof Refusal) return tenant;
  const header = call.request.headers['x-switchboard-agent'];
  const [found, ...others] = tenant.agents.filter(
    (agent) => agent.agentName === agentName && (header ?? agent.id) === agent.id,
  );
  if (found !== undefined && others.length === 0) return found.id;
  const why =
    found === undefined
      ? 'is the agentName of no agent of the tenant'
      : 'is that of several agents: send X-Switchboard-Agent';
  return wrongField('room_config.agents.0.agent_name', why);
}

/**
 * What the request says of the visitor. Only a back end, or a page of a key with `allowOverrides`, may say it, because agents may trust it.
 * Nobody may choose the room or the visitor's identity.
 */
export function readVisitor(
  { body, isService }: RoomCall,
  key: WidgetKey | undefined,
): CreateInput['visitor'] | Refusal {
  const { room_name, participant_identity, room_config, ...said } = body ?? {};
  for (const [field, value] of Object.entries({ room_name, participant_identity }))
    if (value !== undefined && value !== '')
      return wrongField(field, 'is never taken: each session has a room and an identity of its own; leave it out');
  const { participant_name: name, participant_metadata: metadata, participant_attributes: attributes } = said;
  const agentMetadata = room_config?.agents?.[0]?.metadata;
  const asked = { ...said, 'room_config.agents.0.metadata': agentMetadata };
  const paths = Object.entries(asked).flatMap(([path, value]) => (value === undefined ? [] : [path]));
  if (!isService && key?.allowOverrides === false && paths.length > 0)
    return wrongFields(
      'FORBIDDEN',
      paths.map((path) => ({
        path,
        message: 'is not for pages of this widget key to say: leave it out, or let your back end ask',
      })),
    );
  return { name, metadata, attributes, agentMetadata };
}
