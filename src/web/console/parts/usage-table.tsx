import { Fragment, type ComponentChildren } from 'preact';
import { queryText } from '../data/query.ts';
import type { UsageReport, UsageRow } from '../data/shapes.ts';
import { usageHref } from '../data/usage-range.ts';
import { countText, moneyText, shareText, shortName } from '../words/format.ts';
import { SessionsOf } from './sessions-of.tsx';
import { Warning } from './view-states.tsx';

interface Props {
  readonly by: string;
  readonly rows: readonly UsageRow[];
  readonly unattributed: UsageReport['unattributed'];
  readonly total: UsageReport['total'];
  /** The row of which more is shown. */
  readonly open: string | undefined;
  /** What else the address chooses. */
  readonly chosen: Readonly<Record<string, string | undefined>>;
}

/** Who used what, the most first. */
export function UsageTable({ by, rows, unattributed, total, open, chosen }: Props) {
  const isBounded = rows.some(({ ceiling, ceilingTokens }) => ceiling !== null || ceilingTokens !== null);
  const isProjected = rows.some(({ projected }) => projected !== null);
  const most = Math.max(0.01, ...rows.map(({ share }) => share));
  const columns = 4 + (isBounded ? 1 : 0) + (isProjected ? 1 : 0);
  return (
    <div class="figures">
      <table>
        <caption class="hidden">Usage by {by}, the most first</caption>
        <thead>
          <tr>
            <th scope="col">{by.charAt(0).toUpperCase() + by.slice(1)}</th>
            <th scope="col">Share</th>
            <th scope="col" class="number">
              Dollars
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            {isBounded && (
              <th scope="col" class="number">
                Ceiling
              </th>
            )}
            {isProjected && (
              <th scope="col" class="number">
                At midnight
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.id}>
              <tr class={row.id === open ? 'current' : ''}>
                <th scope="row">
                  <Name by={by} row={row} chosen={chosen} isOpen={row.id === open} />
                </th>
                <Share share={row.share} most={most} />
                <td class="number" data-name="dollars">
                  {moneyText(row.dollars)}
                </td>
                <td class="number" data-name="tokens">
                  {countText(row.tokens)}
                </td>
                {isBounded && (
                  <td class="number" data-name="ceiling">
                    {amounts(row.ceiling, row.ceilingTokens)}
                  </td>
                )}
                {isProjected && (
                  <td class={reaches(row) ? 'number problem' : 'number'} data-name="at midnight">
                    {reaches(row) && <Warning />}{' '}
                    {amounts(row.projected, row.ceilingTokens === null ? null : row.projectedTokens)}
                    {reaches(row) && ', over'}
                  </td>
                )}
              </tr>
              {row.id === open && by === 'subject' && (
                <tr class="more-of">
                  <td colSpan={columns}>
                    <SessionsOf subject={row.id} />
                    <p>
                      <a
                        href={`/console/sessions${queryText({ subject: row.id, tenantId: chosen['tenantId'] })}`}
                        data-row
                      >
                        All its sessions
                      </a>
                    </p>
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
          {(unattributed.tokens > 0 || unattributed.dollars > 0) && (
            <tr>
              <th scope="row" class="soft">
                of no {by}
              </th>
              <Share
                most={most}
                share={
                  total.dollars > 0
                    ? unattributed.dollars / total.dollars
                    : unattributed.tokens / Math.max(1, total.tokens)
                }
              />
              <td class="number" data-name="dollars">
                {moneyText(unattributed.dollars)}
              </td>
              <td class="number" data-name="tokens">
                {countText(unattributed.tokens)}
              </td>
              {isBounded && <td />}
              {isProjected && <td />}
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Share({ share, most }: { readonly share: number; readonly most: number }) {
  return (
    <td class="share-of">
      <progress max={most} value={Math.min(most, share)} aria-hidden="true" tabIndex={-1} />{' '}
      <span>{shareText(share)}</span>
    </td>
  );
}

function amounts(dollars: number | null, tokens: number | null): ComponentChildren {
  if (dollars === null && tokens === null) return '';
  const texts = [
    ...(dollars === null ? [] : [moneyText(dollars)]),
    ...(tokens === null ? [] : [`${countText(tokens)} tokens`]),
  ];
  return texts.join(', ');
}

/** Whether it comes to its ceiling before midnight, or has. */
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

/** Each row leads to what it is made of. */
function Name({ by, row: { id, tenantId }, chosen, isOpen }: NameProps) {
  const own = tenantId !== null && id.startsWith(`${tenantId}/`) ? id.slice(tenantId.length + 1) : id;
  if (by === 'subject')
    return (
      <>
        <a href={usageHref({ ...chosen, row: isOpen ? undefined : id })} data-row aria-expanded={isOpen}>
          <code title={id}>{shortName(id)}</code>
        </a>{' '}
        <span class="soft">{tenantId ?? 'no tenant'}</span>
      </>
    );
  const hrefs: Readonly<Record<string, string>> = {
    tenant: usageHref({ ...chosen, by: 'key', tenantId: id }),
    key: `/console/sessions${queryText({ tenantId: tenantId ?? undefined, keyId: own })}`,
    agent: `/console/sessions${queryText({ tenantId: tenantId ?? undefined, agentId: own })}`,
    session: `/console/sessions/${id}`,
  };
  return (
    <a href={hrefs[by] ?? '/console/usage'} data-row>
      {by === 'session' ? <code title={id}>{shortName(id.slice(2))}</code> : id}
    </a>
  );
}
