import type { Client } from '../../support/client.ts';
import type { Switchboard } from '../../support/switchboard.ts';
import type { World } from '../../support/world.ts';
import type { Receiver } from './receiver.ts';

/** A delivery as operators see it. */
export interface Delivery {
  readonly event: string;
  readonly type: string;
  readonly state: string;
}

interface ShownDelivery extends Delivery {
  readonly nextAt: string | null;
}

/** A delivery that would wait longer than this is sent at once. */
const PATIENCE_MS = 15_000;

/** Manages webhooks as an operator does, through a running node. */
export class Hooks {
  readonly #backend: Client;

  constructor(world: World, nodes: readonly Switchboard[]) {
    this.#backend = world.backend(() => (nodes.find(({ isRunning }) => isRunning) ?? world.server).origin);
  }

  async add(receiver: Receiver): Promise<void> {
    const tenant = receiver.isOfInstallation ? {} : { tenantId: 'acme' };
    const made = await this.#ask('POST', '', { ...tenant, url: receiver.url, types: receiver.types });
    const { webhook, secret } = made as { readonly webhook: { readonly id: string }; readonly secret: string };
    receiver.id = webhook.id;
    await receiver.rotate(() => Promise.resolve(secret));
  }

  /** If a node is killed meanwhile, the secret may have changed without anyone knowing the new one; then another is requested at once. */
  async rotate(receiver: Receiver): Promise<void> {
    await receiver.rotate(async () => {
      const made = await this.#try('POST', `/${receiver.id}/rotate`);
      return (made as { readonly secret?: string } | undefined)?.secret;
    });
  }

  async enable(receiver: Receiver): Promise<void> {
    await this.#try('POST', `/${receiver.id}/enable`);
  }

  async deliveriesOf({ id }: Receiver): Promise<Delivery[]> {
    return this.#list(id, '');
  }

  /** Sends waiting deliveries now instead of at their next try. @returns how many wait */
  async hurry({ id }: Receiver): Promise<number> {
    const { webhook } = (await this.#ask('GET', `/${id}`)) as { readonly webhook: { readonly state: string } };
    if (webhook.state !== 'healthy') await this.#ask('POST', `/${id}/enable`);
    const waiting = await this.#list(id, '&state=waiting');
    const late = waiting.filter(({ nextAt }) => Date.parse(nextAt ?? '') > Date.now() + PATIENCE_MS);
    for (const { event } of late) await this.#ask('POST', `/${id}/deliveries/${event}/replay`);
    return waiting.length;
  }

  async #list(id: string, more: string): Promise<ShownDelivery[]> {
    const found: ShownDelivery[] = [];
    let cursor = '';
    do {
      const page = (await this.#ask('GET', `/${id}/deliveries?limit=200${more}${cursor}`)) as {
        readonly deliveries: readonly ShownDelivery[];
        readonly nextCursor: string | null;
      };
      found.push(...page.deliveries);
      cursor = page.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`;
    } while (cursor !== '');
    return found;
  }

  async #try(method: 'GET' | 'POST', path: string): Promise<unknown> {
    return this.#ask(method, path).catch(() => undefined);
  }

  async #ask(method: 'GET' | 'POST', path: string, body: object = {}): Promise<unknown> {
    const url = `/api/operator/webhooks${path}`;
    const reply = await (method === 'GET' ? this.#backend.get(url) : this.#backend.post(url, body));
    if (reply.status >= 300) throw new Error(`${url} answered ${reply.status}: ${reply.text}`);
    return reply.body;
  }
}
