import type { Database } from '../../database/database.ts';
import { MACHINES, type ActorEvent, type ActorEvents, type LostEvents, type MachineName } from './contract.ts';

const MOST_LOST = 100;

/** Machines are numbered in the table, because it has many rows. */
const numberOf = (machine: MachineName): number => MACHINES.indexOf(machine) + 1;

type Row = Omit<ActorEvent, 'machine'>;

/** The history of actors in PostgreSQL: rows are only ever added. */
export function createPostgresActorEvents(database: Database): ActorEvents {
  return {
    async append(events) {
      if (events.length === 0) return;
      const rows = events.map((event) => ({ ...event, machine: numberOf(event.machine) }));
      await database.run(
        (sql) => sql`
          insert into actor_event (machine, actor, version, at_ms, kind, event, from_state, to_state, steps, guards, detail,
            node, request_id)
          select machine, actor, version, "atMs", kind, event, "from", "to", steps, guards, detail, node, "requestId"
          from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (machine smallint, actor text collate "C",
            version integer, "atMs" bigint, kind text, event text, "from" text, "to" text, steps jsonb, guards jsonb,
            detail jsonb, node text, "requestId" text)`,
      );
    },

    async noteLost({ node, fromMs, toMs, count }) {
      await database.run(
        (sql) => sql`
          insert into actor_event_lost (node, from_ms, to_ms, events) values (${node}, ${fromMs}, ${toMs}, ${count})`,
      );
    },

    async of(machine, actor, before, limit) {
      const rows = await database.run(
        (sql) => sql<Row[]>`
          select ordinal, actor, version, at_ms as "atMs", kind, event, from_state as "from", to_state as "to", steps,
            guards, detail, node, request_id as "requestId"
          from actor_event
          where machine = ${numberOf(machine)} and actor = ${actor} and ordinal < ${before ?? Number.MAX_SAFE_INTEGER}
          order by ordinal desc limit ${limit + 1}`,
      );
      return { events: rows.slice(0, limit).map((row) => ({ ...row, machine })), hasMore: rows.length > limit };
    },

    async actorsOf(machine, requestId, limit) {
      const rows = await database.run(
        (sql) => sql<{ actor: string }[]>`
          select actor from actor_event where request_id = ${requestId} and machine = ${numberOf(machine)}
          group by actor order by max(ordinal) desc limit ${limit}`,
      );
      return rows.map(({ actor }) => actor);
    },

    async lostWithin(fromMs, toMs) {
      const rows = await database.run(
        (sql) => sql<LostEvents[]>`
          select node, from_ms as "fromMs", to_ms as "toMs", events as count from actor_event_lost
          where to_ms >= ${fromMs} and from_ms <= ${toMs} order by to_ms desc limit ${MOST_LOST}`,
      );
      return [...rows];
    },
  };
}
