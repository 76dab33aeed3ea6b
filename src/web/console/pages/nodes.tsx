import { Fragment } from 'preact';
import { isLate, nodesAfter } from '../data/nodes.ts';
import { oddNodes } from '../data/odd-nodes.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import type { Node, NodeList } from '../data/shapes.ts';
import { Dependencies } from '../parts/dependencies.tsx';
import { Matter } from '../parts/matter.tsx';
import { Ago, Moment, Span } from '../parts/moments.tsx';
import { usePage } from '../parts/page.ts';
import { Shown } from '../parts/shown.tsx';
import { Empty, Warning } from '../parts/view-states.tsx';
import { countText, latencyText, sizeText } from '../words/format.ts';

/** The processes that are here, and in what they differ. */
export function NodesPage() {
  usePage('Nodes');
  const watch = { topics: ['counts', 'nodes'] } as const;
  const resource = useResource<NodeList>('/api/operator/nodes', watch, { after: nodesAfter });
  return (
    <div class="page">
      <h1>Nodes</h1>
      <Shown resource={resource} what="nodes">
        {({ nodes, differs, asOf }) =>
          nodes.length === 0 ? (
            <Empty title="No process is heard">
              <p>Each tells of itself every five seconds; a network between them may be cut.</p>
            </Empty>
          ) : (
            <Table nodes={nodes} differs={differs} asOf={asOf} />
          )
        }
      </Shown>
    </div>
  );
}

function Table({ nodes, differs, asOf }: NodeList) {
  const versions = oddNodes(nodes, ({ version }) => version);
  const settings = oddNodes(nodes, ({ configHash }) => configHash);
  return (
    <>
      <div class="figures">
        <table>
          <caption class="hidden">Processes, the one that started first on top</caption>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Version</th>
              <th scope="col">Settings</th>
              <th scope="col">Up</th>
              <th scope="col" class="number">
                Loop p99
              </th>
              <th scope="col" class="number">
                Memory
              </th>
              <th scope="col" class="number">
                Sockets
              </th>
              <th scope="col" class="number">
                Waiting
              </th>
              <th scope="col" class="number">
                Dropped
              </th>
              <th scope="col">What it needs</th>
              <th scope="col">Heard</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <Row
                key={node.id}
                node={node}
                isOtherVersion={versions.has(node.id)}
                isSetOtherwise={settings.has(node.id)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {differs.length > 0 && (
        <Matter degree="watch">
          Not all have the same value of{' '}
          {differs.map((name, index) => (
            <Fragment key={name}>
              {index > 0 && ', '}
              <a href={`/console/settings${queryText({ name })}`}>
                <code>{name}</code>
              </a>
            </Fragment>
          ))}
          .
        </Matter>
      )}
      <p class="soft">
        As of <Moment at={asOf} />. Waiting are records and events that are not in the database yet; dropped are events,
        since the start. A process that is not heard for 15 seconds is not listed;{' '}
        <a href="/console/changes">Changes</a> tells when processes started, and{' '}
        <a href="/console/settings">Settings</a> what they are set to.
      </p>
    </>
  );
}

interface RowProps {
  readonly node: Node;
  readonly isOtherVersion: boolean;
  readonly isSetOtherwise: boolean;
}

function Row({ node, isOtherVersion, isSetOtherwise }: RowProps) {
  const { id, host, pid, version, startedAt, seenAt, loopP99Ms, rss, sockets, dependencies } = node;
  return (
    <tr>
      <th scope="row">
        <b class="break">{host}</b>
        <p class="soft">
          <code>{id.slice(0, 6)}</code> pid {pid}
        </p>
      </th>
      <td data-name="version">
        <Marked isWrong={isOtherVersion} words="differs">
          {version}
        </Marked>
      </td>
      <td data-name="settings">
        <Marked isWrong={isSetOtherwise} words="differ">
          {isSetOtherwise ? '' : 'alike'}
        </Marked>
      </td>
      <td data-name="up" title={startedAt}>
        <Span from={startedAt} to={null} />
      </td>
      <td class="number" data-name="loop p99">
        <Marked isWrong={isLate(node)} words="late">
          {latencyText(loopP99Ms)}
        </Marked>
      </td>
      <td class="number" data-name="memory">
        {sizeText(rss)}
      </td>
      <td class="number" data-name="sockets">
        {countText(sockets)}
      </td>
      <td class="number" data-name="waiting" title="records of sessions, events">
        {countText(node.historyWaiting)} + {countText(node.eventsWaiting)}
      </td>
      <td class="number" data-name="dropped">
        <Marked isWrong={node.eventsDropped > 0} words="">
          {countText(node.eventsDropped)}
        </Marked>
      </td>
      <td>
        <Dependencies dependencies={dependencies} />
      </td>
      <td data-name="heard">
        <Ago at={seenAt} />
      </td>
    </tr>
  );
}

/** Something that is not as it should be has an icon and a word. */
function Marked({
  isWrong,
  words,
  children,
}: {
  readonly isWrong: boolean;
  readonly words: string;
  readonly children: string;
}) {
  if (!isWrong) return <>{children}</>;
  return (
    <span class="problem">
      <Warning /> {children} {words}
    </span>
  );
}
