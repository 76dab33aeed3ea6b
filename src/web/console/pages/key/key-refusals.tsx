import type { OperatorKey } from '../../../../protocol/operator/key.ts';
import type { RefusalPage } from '../../data/shapes.ts';
import { queryText } from '../../data/query.ts';
import { countText } from '../../labels/format.ts';
import { Section } from '../../components/card.tsx';
import { ErrorCode } from '../../components/codes.tsx';
import { Shown } from '../../components/view-states.tsx';
import type { Resource } from '../../data/resource.ts';

interface Props {
  readonly found: OperatorKey;
  readonly resource: Resource<RefusalPage>;
}

interface CountedProps extends Pick<Props, 'found'> {
  readonly page: RefusalPage;
}

const MAX_NETWORKS = 5;

/** What was refused to the key's visitors within a day, and their networks. */
export function KeyRefusals({ found, resource }: Props) {
  return (
    <Section title="Refused in 24 h">
      <Shown resource={resource} what="its refusals" rows={3}>
        {(page) => <Counted found={found} page={page} />}
      </Shown>
    </Section>
  );
}

function Counted({ found: { tenantId, id, refusedHour }, page }: CountedProps) {
  const hrefOf = (more: { readonly code?: string; readonly network?: string }): string =>
    `/console/refusals${queryText({ tenantId, keyId: id, ...more })}`;
  const codes = Object.entries(page.counted).toSorted(([, a], [, b]) => b - a);
  const networks = new Map<string, number>();
  for (const { network } of page.refusals)
    if (network !== null) networks.set(network, (networks.get(network) ?? 0) + 1);
  const busiest = [...networks].toSorted(([, a], [, b]) => b - a).slice(0, MAX_NETWORKS);
  return (
    <>
      {codes.length === 0 && busiest.length === 0 && <p class="soft">Nothing was refused to its visitors.</p>}
      {codes.length > 0 && (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col" class="number">
                last hour
              </th>
              <th scope="col" class="number">
                24 h
              </th>
            </tr>
          </thead>
          <tbody>
            {codes.map(([code, count]) => (
              <tr key={code}>
                <th scope="row">
                  <a href={hrefOf({ code })}>
                    <ErrorCode code={code} />
                  </a>
                </th>
                <td class="number">{countText(refusedHour?.[code] ?? 0)}</td>
                <td class="number">{countText(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {busiest.length > 0 && (
        <>
          <h3>Networks of the newest</h3>
          <ul class="notes">
            {busiest.map(([network, count]) => (
              <li key={network}>
                <a href={hrefOf({ network })}>{network}</a> <span class="soft">{countText(count)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
