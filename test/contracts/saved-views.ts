import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { SavedView, SavedViews } from '../../src/stores/saved-views/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

function aView(changes: Partial<SavedView> = {}): SavedView {
  const usual = { tenantId: null, name: 'stale', href: '/console/sessions?state=stale', createdAtMs: DAY_BEGIN };
  return { id: `view_${randomId()}`, owner: randomId(), ...usual, ...changes };
}

export function savedViewsContract(name: string, make: Make<SavedViews>): void {
  describe(`views of operators, ${name}`, () => {
    const views = nodesOf(make);

    test("a view is shown to its owner, and a tenant's view to all who may see that tenant", async () => {
      const own = aView({ name: 'a' });
      const shared = aView({ name: 'b', owner: own.owner, tenantId: randomId() });
      for (const view of [shared, own]) expect(await views().save(view, 5)).toEqual(view);
      expect(await views().list(own.owner, [])).toEqual([own, shared]);
      expect(await views().list(randomId(), [])).toEqual([]);
      expect(await views().list(randomId(), [shared.tenantId ?? ''])).toEqual([shared]);
      expect(await views().list(randomId())).toContainEqual(shared);
    });

    test('a view of the same name replaces it and keeps its id', async () => {
      const first = aView();
      await views().save(first, 1);
      const second = { ...aView({ owner: first.owner, href: '/console/calls' }), createdAtMs: DAY_BEGIN + 1 };
      expect(await views().save(second, 1)).toEqual({ ...second, id: first.id });
      expect(await views().list(first.owner, [])).toEqual([{ ...second, id: first.id }]);
    });

    test('concurrent saves never keep more views than allowed', async () => {
      const owner = randomId();
      const saved = await atOnce(RACERS, (racer) => views().save(aView({ owner, name: `view ${racer}` }), 3));
      expect(saved.filter((each) => each !== undefined)).toHaveLength(3);
      expect(await views().list(owner, [])).toHaveLength(3);
    });

    test('a view can only be deleted by its owner', async () => {
      const view = aView();
      await views().save(view, 1);
      expect(await views().delete(randomId(), view.id)).toBe(false);
      expect(await views().delete(view.owner, view.id)).toBe(true);
      expect(await views().delete(view.owner, view.id)).toBe(false);
    });
  });
}
