import { PATIENT, type Database, type WorkOptions } from './database.ts';

/** Whether work may take as long as that of a start; the code that starts the service says when this is over. */
export interface Patience {
  isPatient: boolean;
}

/**
 * The same database, whose work has the patience of a start while `patience` says so; work with a deadline of its own keeps that. A start or a
 * command asks many things that a request asks too, but cannot do without the answers.
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
