import { usePage } from '../parts/page.ts';

export function NotFoundPage() {
  usePage('No such page');
  return (
    <div class="page">
      <h1>The console has no such page</h1>
      <p>
        See the <a href="/console">overview</a> or the <a href="/console/sessions">sessions</a>.
      </p>
    </div>
  );
}
