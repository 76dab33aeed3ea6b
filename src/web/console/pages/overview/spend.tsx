import type { Overview } from '../../data/shapes.ts';
import { moneyText } from '../../../../protocol/money.ts';
import { countText, shareText, shortName } from '../../labels/format.ts';
import { Card } from '../../components/card.tsx';
import { Moment } from '../../components/times.tsx';
import { useScope } from '../../components/scope.tsx';
import { Warning } from '../../components/view-states.tsx';

/** How many are listed. The rest is on the usage page. */
const TOLD = 3;

type Spend = NonNullable<Overview['spend']>;

/** Today's cost and its limit, where it is heading, and who will be stopped before midnight. */
export function SpendCard({ spend }: { readonly spend: Spend }) {
  const { to } = useScope();
  const { tokens, dollars, ceiling, projected, atCeiling } = spend;
  const isOver = ceiling !== null && (projected ?? dollars) > ceiling;
  return (
    <Card title="Spent today" aside={<a href={to('/console/usage?by=subject')}>Who spends it</a>}>
      <p class="spend">
        <b class="figure">{moneyText(dollars)}</b>{' '}
        {ceiling === null ? (
          <span class="soft">without a common ceiling</span>
        ) : (
          <>
            of {moneyText(ceiling)} <span class="soft">({shareText(dollars / ceiling)})</span>
          </>
        )}
      </p>
      {ceiling !== null && <Gauge dollars={dollars} projected={projected} ceiling={ceiling} />}
      <p class={isOver ? 'problem' : 'soft'}>
        {isOver && <Warning />} {countText(tokens)} tokens
        {projected !== null && <>; at this pace {moneyText(projected)} at midnight</>}
        {isOver && ', over the ceiling'}
      </p>
      {atCeiling === null && <p class="soft">Who reaches a ceiling is too much to work out now.</p>}
      {atCeiling !== null && atCeiling.length > 0 && (
        <div>
          <p>
            <Warning />{' '}
            {atCeiling.length === 1
              ? 'One subject reaches its ceiling'
              : `${atCeiling.length} subjects reach their ceilings`}{' '}
            before midnight:
          </p>
          <ul class="notes">
            {atCeiling.slice(0, TOLD).map(({ subject, at }) => (
              <li key={subject}>
                <a href={to(`/console/usage?by=subject&row=${subject}`)}>
                  <code>{shortName(subject)}</code>
                </a>{' '}
                at <Moment at={at} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}

/** How much of the ceiling is used, and how much will be. */
function Gauge({ dollars, projected, ceiling }: Pick<Spend, 'dollars' | 'projected'> & { readonly ceiling: number }) {
  const widthOf = (amount: number): number => (ceiling === 0 ? 100 : Math.min(100, (100 * amount) / ceiling));
  return (
    <svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="gauge-all" width="100" height="8" />
      {projected !== null && <rect class="gauge-projected" width={widthOf(projected)} height="8" />}
      <rect class="gauge-used" width={widthOf(dollars)} height="8" />
    </svg>
  );
}
