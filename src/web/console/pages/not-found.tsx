import { usePage } from '../parts/page.ts';
import { Empty } from '../parts/view-states.tsx';

export function NotFoundPage() {
  usePage('No such page');
  return (
    <div class="page">
      <Empty title="The console has no such page">
        <p>
          <a href="/console">Overview</a> or <a href="/console/sessions">sessions</a>
        </p>
      </Empty>
    </div>
  );
}
