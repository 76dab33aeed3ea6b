import { PATIENT, type Database, type WorkOptions } from './database.ts';

/** Whether work may take as long as that of a start; whoever starts says when that is over. */
export interface Patience {
  isPatient: boolean;
}

/**
 * The same database, whose work has the patience of a start while `patience` says so; work with a deadline of its own keeps that. A start, or
 * a command, asks much that a request asks as well, and cannot do without the answer.
 */
export function patientWhile(database: Database, patience: Readonly<Patience>): Database {
  const optionsOf = (options: WorkOptions | undefined): WorkOptions => options ?? (patience.isPatient ? PATIENT : {});
  return {
    kind: database.kind,
    health: database.health,
    run: (work, options) => database.run(work, optionsOf(options)),
    transaction: (work, options) => database.transaction(work, optionsOf(options)),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}
