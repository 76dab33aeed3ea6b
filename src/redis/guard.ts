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
  /** Undefined until the deciding operation has answered. */
  allowed: boolean | undefined;
  /** The call that the deciding operation travels in. */
  call: unknown;
  /** The decision of whoever asked, who may also decide when Redis does not answer. */
  readonly decision: Promise<boolean>;
  #decide = (_allowed: boolean): void => undefined;

  constructor() {
    this.decision = new Promise((resolve) => {
      this.#decide = resolve;
    });
  }

  decide(allowed: boolean): void {
    this.allowed = allowed;
    this.#decide(allowed);
  }
}
