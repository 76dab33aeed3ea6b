/** The rejection of what was asked for under a guard that said no. Nothing of it has happened. */
export class Guarded extends Error {
  override readonly name = 'Guarded';

  constructor() {
    super('not done, because what it depended on was refused');
  }
}

/**
 * A condition on operations: they happen only when the operation that decides it allows them. Both travel in one call where one
 * server has them both; else the guarded ones wait for the decision.
 */
export class Guard {
  /** Undefined until it is decided. */
  allowed: boolean | undefined;
  /** The call that the deciding operation travels in. */
  call: unknown;
  #waiting: ((allowed: boolean) => void)[] | undefined;

  /** By whoever asked for the deciding operation; it may also decide when Redis does not answer. */
  decide(allowed: boolean): void {
    this.allowed = allowed;
    for (const hear of this.#waiting ?? []) hear(allowed);
    this.#waiting = undefined;
  }

  whenDecided(hear: (allowed: boolean) => void): void {
    if (this.allowed === undefined) (this.#waiting ??= []).push(hear);
    else hear(this.allowed);
  }
}
