import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SearchHit } from '../../../../protocol/operator/search.ts';
import { queryText } from '../../data/query.ts';
import { search } from '../../data/search.ts';
import type { UsageReport, UsageRow } from '../../data/shapes.ts';
import { usageHref } from '../../data/links.ts';
import { StateOrWord } from '../../components/status-marks.tsx';
import { Moment } from '../../components/times.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Warning } from '../../components/view-states.tsx';
import { moneyText } from '../../../../protocol/money.ts';
import { countText, shareText, shortName } from '../../labels/format.ts';

interface Props {
  readonly by: string;
  readonly rows: readonly UsageRow[];
  readonly unattributed: UsageReport['unattributed'];
  readonly total: UsageReport['total'];
  /** Whether there are further rows, with less usage, that are not loaded. */
  readonly isPart: boolean;
  /** The id of the row that is expanded. */
  readonly open: string | undefined;
  /** The other choices in the address. */
  readonly chosen: Readonly<Record<string, string | undefined>>;
}

/** A line of the table. Usage that belongs to no row has only these fields. */
type Line = Pick<UsageRow, 'share' | 'dollars' | 'tokens'> & { readonly row?: UsageRow };

/** Who used how much, most first. */
export function UsageTable({ by, rows, unattributed, total, isPart, open, chosen }: Props) {
  const isBounded = rows.some(({ ceiling, ceilingTokens }) => ceiling !== null || ceilingTokens !== null);
  const isProjected = rows.some(({ projected }) => projected !== null);
  const most = Math.max(0.01, ...rows.map(({ share }) => share));
  const columns: readonly Column<Line>[] = [
    {
      title: by.charAt(0).toUpperCase() + by.slice(1),
      style: 'text',
      sortBy: ({ row }) => row?.id ?? null,
      cell: ({ row }) =>
        row === undefined ? (
          <span class="soft">of no {by}</span>
        ) : (
          <Name by={by} row={row} chosen={chosen} isOpen={row.id === open} />
        ),
    },
    {
      title: 'Share',
      style: 'share-of',
      sortBy: ({ row, share }) => (row === undefined ? null : share),
      cell: ({ share }) => (
        <>
          <progress max={most} value={Math.min(most, share)} aria-hidden="true" tabIndex={-1} />{' '}
          <span>{shareText(share)}</span>
        </>
      ),
    },
    {
      title: 'Dollars',
      sortBy: ({ row }) => row?.dollars ?? null,
      style: 'number',
      cell: ({ dollars }) => moneyText(dollars),
    },
    {
      title: 'Tokens',
      sortBy: ({ row }) => row?.tokens ?? null,
      style: 'number',
      cell: ({ tokens }) => countText(tokens),
    },
    ...(isBounded ? [CEILING] : []),
    ...(isProjected ? [PROJECTED] : []),
  ];
  const lines = rows.map((row) => ({ key: row.id, row: { ...row, row } as Line }));
  const { dollars, tokens } = unattributed;
  const share = total.dollars > 0 ? dollars / total.dollars : tokens / Math.max(1, total.tokens);
  return (
    <Table
      caption={`Usage by ${by}, the most first`}
      columns={columns}
      rows={tokens > 0 || dollars > 0 ? [...lines, { key: '', row: { share, dollars, tokens } }] : lines}
      isPart={isPart}
      styleOf={({ row }) => (row !== undefined && row.id === open ? 'current' : '')}
      detailOf={({ row }) =>
        row !== undefined &&
        row.id === open &&
        by === 'subject' && (
          <>
            <SessionsOf subject={row.id} />
            <p>
              <a href={`/console/sessions${queryText({ subject: row.id, tenantId: chosen['tenantId'] })}`} data-row>
                All its sessions
              </a>
            </p>
          </>
        )
      }
    />
  );
}

const CEILING: Column<Line> = {
  title: 'Ceiling',
  style: 'amounts',
  cell: ({ row }) => row !== undefined && amounts(row.ceiling, row.ceilingTokens),
};

const PROJECTED: Column<Line> = {
  title: 'At midnight',
  style: 'amounts',
  cell: ({ row }) => {
    if (row === undefined) return null;
    const words = amounts(row.projected, row.ceilingTokens === null ? null : row.projectedTokens);
    return reaches(row) ? (
      <span class="problem amounts">
        <Warning /> {words}, over
      </span>
    ) : (
      words
    );
  },
};

function amounts(dollars: number | null, tokens: number | null): ComponentChildren {
  if (dollars === null && tokens === null) return '';
  const texts = [
    ...(dollars === null ? [] : [moneyText(dollars)]),
    ...(tokens === null ? [] : [`${countText(tokens)} tokens`]),
  ];
  return texts.join(', ');
}

/** Whether it has reached its ceiling, or will before midnight. */
function reaches({ ceiling, ceilingTokens, projected, projectedTokens }: UsageRow): boolean {
  return (
    (ceiling !== null && projected !== null && projected >= ceiling) ||
    (ceilingTokens !== null && projectedTokens !== null && projectedTokens >= ceilingTokens)
  );
}

interface NameProps {
  readonly by: string;
  readonly row: UsageRow;
  readonly chosen: Readonly<Record<string, string | undefined>>;
  readonly isOpen: boolean;
}

/** The name of a row, which links to its parts. */
function Name({ by, row: { id, tenantId }, chosen, isOpen }: NameProps) {
  const own = tenantId !== null && id.startsWith(`${tenantId}/`) ? id.slice(tenantId.length + 1) : id;
  if (by === 'subject')
    return (
      <>
        <a href={usageHref({ ...chosen, row: isOpen ? undefined : id })} aria-expanded={isOpen}>
          <code title={id}>{shortName(id)}</code>
        </a>{' '}
        <span class="soft">{tenantId ?? 'no tenant'}</span>
      </>
    );
  const hrefs: Readonly<Record<string, string>> = {
    tenant: usageHref({ ...chosen, by: 'key', tenantId: id }),
    key: `/console/sessions${queryText({ tenantId, keyId: own })}`,
    agent: `/console/sessions${queryText({ tenantId, agentId: own })}`,
    session: `/console/sessions/${id}`,
  };
  return (
    <a href={hrefs[by] ?? '/console/usage'}>
      {by === 'session' ? <code title={id}>{shortName(id.slice(2))}</code> : id}
    </a>
  );
}

/** The sessions of a subject, found through the search. */
function SessionsOf({ subject }: { readonly subject: string }) {
  const hits = useSignal<readonly SearchHit[] | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    void search(subject).then((found) => {
      if (!isOver) hits.value = 'hits' in found ? found.hits.filter(({ kind }) => kind === 'session') : [];
    });
    return () => {
      isOver = true;
    };
  }, [subject]);
  return (
    <>
      <p>
        Subject <code class="break">{subject}</code>
      </p>
      {hits.value === undefined ? (
        <p role="status">Looking for its sessions…</p>
      ) : hits.value.length === 0 ? (
        <p class="soft">None of its sessions is kept.</p>
      ) : (
        <ul class="notes">
          {hits.value.map(({ id, label, href }) => (
            <li key={id}>
              <a href={href}>
                <Told label={label} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Rewrites `acme/support 7f3a…, engaged, 2030-01-01T12:00:00.000Z` in the console's usual form. */
function Told({ label }: { readonly label: string }) {
  const [, place, state, at] = /^(.*) \S+, (\w+), (\S+Z)$/.exec(label) ?? [];
  if (place === undefined || state === undefined || at === undefined) return <>{label}</>;
  return (
    <>
      {place} <StateOrWord name={state} /> <Moment at={at} />
    </>
  );
}
