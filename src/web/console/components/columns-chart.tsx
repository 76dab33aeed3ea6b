import { countText, clockText, dayText, type Zone } from '../labels/format.ts';
import { HOUR_MS, MINUTE_MS } from '../data/durations.ts';

interface Column {
  readonly label: string;
  readonly amount: number;
  /** The amount as text. */
  readonly text: string;
}

interface Props {
  readonly title: string;
  readonly columns: readonly Column[];
  /** Formats an amount for the axis. */
  readonly write?: (amount: number) => string;
}

const WIDTH = 100;
const HEIGHT = 40;
const GAP = 0.2;
/** How many labels fit below the chart on a phone. */
const MAX_LABELS = 4;

/** Amounts over time as columns, followed by the same data as a table. */
export function ColumnsChart({ title, columns, write = countText }: Props) {
  const most = columns.reduce((top, each) => (each.amount > top.amount ? each : top), columns[0] ?? NONE);
  const top = roundAbove(most.amount);
  const step = WIDTH / Math.max(1, columns.length);
  const labelled = labelledOf(columns.length);
  return (
    <figure class="columns-chart">
      <figcaption class="soft">
        {title}; at most {most.text}
      </figcaption>
      <div class="columns-plot">
        {/* Hidden from screen readers, because the table has the same numbers. */}
        <div class="columns-amounts soft" aria-hidden="true">
          {[top, top / 2, 0].map((amount) => (
            <span key={amount}>{write(amount)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}; at most ${most.text}, ${most.label}`}
        >
          {[0, HEIGHT / 2].map((y) => (
            <line key={y} x1={0} x2={WIDTH} y1={y} y2={y} />
          ))}
          {columns.map(({ label, amount, text }, index) => {
            const height = (HEIGHT * amount) / top;
            return (
              <g key={label}>
                <title>{`${label}: ${text}`}</title>
                {/* The target for the pointer is as high as the chart. */}
                <rect class="aim" x={index * step} width={step} height={HEIGHT} />
                <rect x={(index + GAP / 2) * step} width={step * (1 - GAP)} y={HEIGHT - height} height={height} />
              </g>
            );
          })}
        </svg>
        <div class="columns-times soft" aria-hidden="true">
          {columns
            .filter((_, index) => index % labelled === 0)
            .map(({ label }) => (
              <span key={label}>{label}</span>
            ))}
        </div>
      </div>
      <details>
        <summary>As a table</summary>
        <table class="plain">
          <caption class="unseen">{title}</caption>
          <tbody>
            {columns.map(({ label, text }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td class="number">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

const NONE: Column = { label: '', amount: 0, text: '' };

/** Every how many columns one gets a label. If possible, it divides their number, so that all labels are equally far apart. */
function labelledOf(columns: number): number {
  const least = Math.max(1, Math.ceil(columns / MAX_LABELS));
  const choices = Array.from({ length: least }, (_, n) => least + n);
  return choices.find((each) => columns % each === 0) ?? least;
}

/** The smallest of 2, 4, 6, 8 and 10 times a power of ten that is at least the amount. Half of it is a round number too. */
function roundAbove(amount: number): number {
  if (amount <= 0) return 2;
  const power = 10 ** Math.floor(Math.log10(amount));
  return ([2, 4, 6, 8].find((times) => times * power >= amount) ?? 10) * power;
}

const STEPS = { minute: MINUTE_MS, hour: HOUR_MS } as const;
/** The number of hours in 31 days. */
const MAX_STEPS = 744;

/** Counts over time as columns, including minutes or hours without any. */
export function columnsOf(
  series: readonly { readonly at: string; readonly count: number }[],
  by: keyof typeof STEPS,
  zone: Zone,
): Column[] {
  if (series.length === 0) return [];
  const counts = new Map(series.map(({ at, count }) => [Date.parse(at), count]));
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const isOneDay = dayText(first, zone) === dayText(last, zone);
  const steps = Math.min(MAX_STEPS, (last - first) / STEPS[by] + 1);
  return Array.from({ length: steps }, (_, step) => {
    const atMs = first + step * STEPS[by];
    const amount = counts.get(atMs) ?? 0;
    return { label: labelOf(atMs, isOneDay, zone), amount, text: countText(amount) };
  });
}

/** Includes the day if there is more than one. */
function labelOf(atMs: number, isOneDay: boolean, zone: Zone): string {
  const time = clockText(atMs, zone).slice(0, 5);
  return isOneDay ? time : `${dayText(atMs, zone).slice(5)} ${time}`;
}
