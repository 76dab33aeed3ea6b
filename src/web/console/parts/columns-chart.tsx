/** Amounts over time as columns: the same is in a table below it. */
export interface Column {
  readonly label: string;
  readonly amount: number;
  /** The amount as it is written. */
  readonly text: string;
}

interface Props {
  readonly title: string;
  readonly columns: readonly Column[];
}

const WIDTH = 100;
const HEIGHT = 40;
const GAP = 0.2;

export function ColumnsChart({ title, columns }: Props) {
  const most = columns.reduce((top, each) => (each.amount > top.amount ? each : top), columns[0] ?? NONE);
  const step = WIDTH / Math.max(1, columns.length);
  return (
    <figure class="columns-chart">
      <figcaption class="soft">
        {title}; at most {most.text}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}; at most ${most.text}, ${most.label}`}
      >
        {columns.map(({ label, amount, text }, index) => {
          const height = most.amount === 0 ? 0 : (HEIGHT * amount) / most.amount;
          return (
            <g key={label}>
              <title>{`${label}: ${text}`}</title>
              {/* What is aimed at is as high as the chart. */}
              <rect class="aim" x={index * step} width={step} height={HEIGHT} />
              <rect x={(index + GAP / 2) * step} width={step * (1 - GAP)} y={HEIGHT - height} height={height} />
            </g>
          );
        })}
      </svg>
      <p class="soft columns-ends">
        <span>{columns[0]?.label}</span>
        <span>{columns.at(-1)?.label}</span>
      </p>
      <details>
        <summary>As a table</summary>
        <table class="plain">
          <caption class="hidden">{title}</caption>
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
