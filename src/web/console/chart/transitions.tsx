import type { Chart, ChartTransition } from '../../../protocol/operator/machine.ts';
import { transitionsOf, type Moment } from './moment.ts';
import { takenText, titleOf, wordOf, type Words, type Zone } from './words.ts';

interface TransitionsProps {
  readonly machine: string;
  readonly chart: Chart;
  readonly moment: Moment;
  readonly words: Words;
  readonly zone: Zone;
}

/** Every transition, those that stay in their state as well: what the chart says, as a table. */
export function Transitions({ machine, chart, moment, words, zone }: TransitionsProps) {
  const all = transitionsOf(chart);
  const caption = `Every transition of the ${titleOf(machine)}, and when it was taken, in ${zone.name}`;
  return (
    <details class="chart-transitions">
      <summary>All {all.length} transitions</summary>
      <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {['From', 'To', 'Event', 'Guard', 'Taken'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <Row key={`${one.from} ${one.to} ${one.event} ${one.guard}`} {...{ one, moment, words, zone }} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

interface RowProps extends Pick<TransitionsProps, 'moment' | 'words' | 'zone'> {
  readonly one: ChartTransition;
}

function Row({ one, moment, words, zone }: RowProps) {
  const { from, to, event, guard } = one;
  const taken = moment.taken([one]);
  return (
    <tr class={taken === undefined ? '' : 'taken'}>
      <th scope="row">{from}</th>
      <td>{from === to ? 'stays' : to}</td>
      <td>
        <Named name={event} words={words} />
      </td>
      <td>{guard === null ? 'none' : <Named name={guard} words={words} />}</td>
      <td>{taken === undefined ? 'no' : takenText(taken, zone)}</td>
    </tr>
  );
}

function Named({ name, words }: { readonly name: string; readonly words: Words }) {
  return (
    <>
      {name !== '' && <code>{name}</code>} {wordOf(name, words)}
    </>
  );
}
