import { useLocation, useRoute } from 'preact-iso';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import type { FoundRefusal, Refusal, RefusalMinute } from '../data/shapes.ts';
import { Bars } from '../components/bars.tsx';
import { Card, Fact, IdFact, Ref, TimeFact } from '../components/card.tsx';
import { ErrorCode } from '../components/codes.tsx';
import { Page } from '../components/page.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { Matter } from '../components/matters.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { Moment } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Empty, knownOf, Shown } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';

/** Why one request was refused, found by the request id in its reply. */
export function RefusalPage() {
  const requestId = useRoute().params['requestId'] ?? '';
  const path = `/api/operator/refusals?requestId=${encodeURIComponent(requestId)}`;
  const resource = useResource<FoundRefusal>(path, { topics: ['counts'] });
  const { route } = useLocation();
  const { to } = useScope();
  const found = knownOf(resource);
  const code = found?.found === 'exact' ? found.refusal.code : undefined;
  useKeys({ Escape: () => route(to('/console/refusals')) });
  return (
    <Page title={code ?? requestId}>
      <div class="title-row">
        <h1>{code === undefined ? 'Request' : <ErrorCode code={code} />}</h1>
        <span class="spring" />
        {found !== undefined && <CopyMenu path={path} text={resource.text.value} />}
      </div>
      <Ref>{requestId}</Ref>
      {resource.failure.value?.kind === 'missing' ? (
        <Unknown />
      ) : (
        <Shown resource={resource} what="this refusal">
          {(answer) => (answer.found === 'exact' ? <Exact refusal={answer.refusal} /> : <Minute minute={answer} />)}
        </Shown>
      )}
    </Page>
  );
}

function Unknown() {
  return (
    <Empty
      title="Nothing is known of this request id"
      hint="It is older than what is kept, of a tenant that you are not shown, or none of this service's."
      link={['/console/refusals', 'See what was refused lately']}
    />
  );
}

function Exact({ refusal }: { readonly refusal: Refusal }) {
  const { at, code, status, layer, route, lever, limit, count, retryAfter, verdict, sentence } = refusal;
  const { tenantId, keyId, origin, network, addressHash, subject, node } = refusal;
  return (
    <>
      <Matter degree="wrong">{sentence}</Matter>
      <div class="columns refusal-columns">
        <Card title="What said no">
          <dl class="facts">
            <Fact name="Layer">
              {layerWords(layer)} <code class="soft">{layer}</code>
            </Fact>
            <Fact name="Counted">{count === null ? null : countText(count)}</Fact>
            <Fact name="Limit">{limit === null ? null : countText(limit)}</Fact>
            <Fact name="Set by">
              {lever === null ? null : (
                <>
                  <code class="break">{lever}</code> <span class="soft">{leverWords(lever)}</span>
                </>
              )}
            </Fact>
            <Fact name="Verdict">{verdict}</Fact>
            <Fact name="Told to wait">{retryAfter === null ? null : `${countText(retryAfter)} s`}</Fact>
            <Fact name="Answer">
              {status} <code class="break">{code}</code>
            </Fact>
          </dl>
        </Card>
        <Card title="The request">
          <dl class="facts">
            <TimeFact name="Time" at={at} hasMs />
            <IdFact name="Route" id={route} />
            <Fact name="Tenant">{tenantId}</Fact>
            <Fact name="Key">{keyId}</Fact>
            <IdFact name="Origin" id={origin} />
            <IdFact name="Network" id={network} />
            <IdFact name="Address hash" id={addressHash} />
            <IdFact name="Subject" id={subject} href={`/console/sessions${queryText({ subject })}`} />
            <IdFact name="Process" id={node} />
          </dl>
        </Card>
        <Card title="Like it, in the last 24 h">
          <ul class="notes">
            <Like words="with this code" filter={{ code }} />
            {tenantId !== null && keyId !== null && <Like words="with this key" filter={{ tenantId, keyId }} />}
            {network !== null && <Like words="from this network" filter={{ network }} />}
          </ul>
        </Card>
      </div>
    </>
  );
}

function Like({ words, filter }: { readonly words: string; readonly filter: Readonly<Record<string, string>> }) {
  return (
    <li>
      <a href={`/console/refusals${queryText(filter)}`}>All refusals {words}</a>
    </li>
  );
}

/** A request of which only its time and the process that answered it are known. */
function Minute({ minute: { node, from, to, byCode } }: { readonly minute: RefusalMinute }) {
  const codes = Object.entries(byCode);
  return (
    <>
      <Matter degree="watch">
        Only its time is known: process <code>{node.slice(0, 6)}</code> answered it between <Moment at={from} /> and{' '}
        <Moment at={to} />. Either it was not refused, or there were so many refusals that only the first of each second
        were kept.
      </Matter>
      <Card title="What that process refused then">
        {codes.length === 0 ? (
          <p class="soft">Nothing: the request was most likely not refused.</p>
        ) : (
          <Bars
            columns={['Code', 'Refusals']}
            bars={codes.map(([code, count]) => ({
              label: code,
              words: <ErrorCode code={code} />,
              count,
              href: `/console/refusals${queryText({ code, from, to })}`,
            }))}
          />
        )}
      </Card>
    </>
  );
}

/** What each layer that can refuse a request is, for people who do not know them by heart. */
const LAYERS: Readonly<Record<string, string>> = {
  edge: 'the edge, before anything was looked at',
  body: 'the body and the fields of the request',
  key: 'the widget key',
  origin: 'the origin of the page',
  agent: 'what the key allows of agents',
  bot: 'the bot verdict',
  minute: 'the limit of a minute',
  quota: 'the quota of the day',
  slot: 'how many may be open at once',
  mint: 'the voice provider',
  proof: 'the proof that the session is the caller’s',
  machine: 'the rules of the session',
  login: 'who is logged in, and what they may',
  service: 'the service itself',
};

function layerWords(layer: string): string {
  return LAYERS[layer] ?? layer;
}

/** What kind of setting a lever is. Variables are written in capitals, and may be given together with the field that overrides them. */
function leverWords(lever: string): string {
  if (lever.includes(' ')) return '';
  if (lever === 'admins') return 'a field of the tenant';
  return /^[A-Z0-9_]+$/.test(lever) ? 'a variable' : 'a field of the widget key';
}
