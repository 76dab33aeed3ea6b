import { PATIENT, type Database, type WorkOptions } from './database.ts';

/**
 * The same database, whose work has the patience of a start for as long as `isPatient` says so; work with a deadline of its own keeps that.
 * A start, or a command, asks much that a request asks as well, and nobody can do without its answer.
 */
export function patientWhile(database: Database, isPatient: () => boolean): Database {
  const patience = (options: WorkOptions | undefined): WorkOptions => options ?? (isPatient() ? PATIENT : {});
  return {
    kind: database.kind,
    health: database.health,
    run: (work, options) => database.run(work, patience(options)),
    transaction: (work, options) => database.transaction(work, patience(options)),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}
