import type { OperatorKey } from '../../../../protocol/operator/key.ts';
import { moneyText } from '../../../../protocol/money.ts';
import { Section } from '../../components/card.tsx';
import { countText } from '../../labels/format.ts';

interface Props {
  readonly found: OperatorKey;
  /** The dollars of the whole day a week ago; undefined until they are known. */
  readonly spentThen: number | undefined;
}

/** Shares of creates: of started and refused ones together. */
const SHARES = [
  ['challenged', 'Challenged, of both'],
  ['solved', 'Solved, of both'],
  ['blocked', 'Blocked as bots, of both'],
] as const;

/** Undefined if it is not known, or if there were no creates. */
function shareOf(did: OperatorKey['day'], field: (typeof SHARES)[number][0]): number | undefined {
  const part: number | undefined = did?.[field];
  const all = did === null ? 0 : did.started + did.refused;
  return part === undefined || all === 0 ? undefined : part / all;
}

/** Compares what the key does with a week ago. */
export function KeyTrend({ found: { day, weekAgo, today }, spentThen }: Props) {
  return (
    <Section title="Against last week">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">What</span>
            </th>
            {['24 h', 'week before', 'times'].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Row name="Sessions started" here={day?.started} before={weekAgo?.started} text={countText} />
          <Row name="Refusals" here={day?.refused} before={weekAgo?.refused} text={countText} />
          {SHARES.map(([field, name]) => (
            <Row
              key={field}
              name={name}
              here={shareOf(day, field)}
              before={shareOf(weekAgo, field)}
              text={(share) => `${(100 * share).toFixed(1)} %`}
            />
          ))}
          <Row name="Spent today; then, all day" here={today?.dollars} before={spentThen} text={moneyText} />
        </tbody>
      </table>
    </Section>
  );
}

interface RowProps {
  readonly name: string;
  readonly here: number | undefined;
  readonly before: number | undefined;
  readonly text: (value: number) => string;
}

const UNUSUAL = 2;

function Row({ name, here, before, text }: RowProps) {
  const factor = here === undefined || before === undefined || before === 0 ? undefined : here / before;
  const shown = (value: number | undefined): string => (value === undefined ? '–' : text(value));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{shown(here)}</td>
      <td class="number">{shown(before)}</td>
      <td class="number">
        {factor === undefined ? '–' : factor >= UNUSUAL ? <b>{factor.toFixed(1)} ▲</b> : factor.toFixed(1)}
      </td>
    </tr>
  );
}
