import { Fragment } from 'preact';
import { isLate, nodesAfter, oddNodes } from '../data/nodes.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import type { Node, NodeList } from '../data/shapes.ts';
import { Page } from '../components/page.tsx';
import { Dependencies } from '../components/status-marks.tsx';
import { Matter } from '../components/matters.tsx';
import { Ago, Moment, Span } from '../components/times.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Empty, Problem, Shown } from '../components/view-states.tsx';
import { countText, latencyText, sizeText } from '../labels/format.ts';

/** The live processes, and how they differ. */
export function NodesPage() {
  const watch = { topics: ['counts', 'nodes'] } as const;
  const resource = useResource<NodeList>('/api/operator/nodes', watch, { after: nodesAfter });
  return (
    <Page title="Nodes">
      <h1>Nodes</h1>
      <Shown resource={resource} what="nodes">
        {({ nodes, differs, asOf }) =>
          nodes.length === 0 ? (
            <Empty
              title="No process is heard"
              hint="Each tells of itself every five seconds; a network between them may be cut."
            />
          ) : (
            <Processes nodes={nodes} differs={differs} asOf={asOf} />
          )
        }
      </Shown>
    </Page>
  );
}

function Processes({ nodes, differs, asOf }: NodeList) {
  const versions = oddNodes(nodes, ({ version }) => version);
  const settings = oddNodes(nodes, ({ configHash }) => configHash);
  return (
    <>
      <Table
        caption="Processes, the one that started first on top"
        columns={COLUMNS}
        rows={nodes.map((node) => ({
          key: node.id,
          row: { ...node, isOtherVersion: versions.has(node.id), isSetOtherwise: settings.has(node.id) },
        }))}
      />
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

interface ComparedNode extends Node {
  readonly isOtherVersion: boolean;
  readonly isSetOtherwise: boolean;
}

const COLUMNS: readonly Column<ComparedNode>[] = [
  {
    title: 'Node',
    sortBy: ({ host }) => host,
    style: 'text',
    cell: ({ host, id, pid }) => (
      <>
        <b>{host}</b>{' '}
        <span class="soft">
          <code>{id.slice(0, 6)}</code> pid {pid}
        </span>
      </>
    ),
  },
  {
    title: 'Version',
    sortBy: ({ version }) => version,
    style: 'break',
    cell: ({ version, isOtherVersion }) => (
      <Marked isWrong={isOtherVersion} words="differs">
        {version}
      </Marked>
    ),
  },
  {
    title: 'Settings',
    cell: ({ isSetOtherwise }) => (
      <Marked isWrong={isSetOtherwise} words="differ">
        {isSetOtherwise ? '' : 'alike'}
      </Marked>
    ),
  },
  {
    title: 'Up',
    sortBy: ({ startedAt }) => -Date.parse(startedAt),
    cell: ({ startedAt }) => (
      <span title={startedAt}>
        <Span from={startedAt} to={null} />
      </span>
    ),
  },
  {
    title: 'Loop p99',
    sortBy: ({ loopP99Ms }) => loopP99Ms,
    style: 'number',
    cell: (node) => (
      <Marked isWrong={isLate(node)} words="late">
        {latencyText(node.loopP99Ms)}
      </Marked>
    ),
  },
  { title: 'Memory', sortBy: ({ rss }) => rss, style: 'amounts', cell: ({ rss }) => sizeText(rss) },
  { title: 'Sockets', sortBy: ({ sockets }) => sockets, style: 'number', cell: ({ sockets }) => countText(sockets) },
  {
    title: 'Waiting',
    style: 'amounts',
    cell: ({ historyWaiting, eventsWaiting }) => (
      <span title="records of sessions, events">
        {countText(historyWaiting)} + {countText(eventsWaiting)}
      </span>
    ),
  },
  {
    title: 'Dropped',
    sortBy: ({ eventsDropped }) => eventsDropped,
    style: 'number',
    cell: ({ eventsDropped }) => (
      <Marked isWrong={eventsDropped > 0} words="">
        {countText(eventsDropped)}
      </Marked>
    ),
  },
  {
    title: 'What it needs',
    cell: ({ dependencies }) => <Dependencies dependencies={dependencies} />,
  },
  { title: 'Heard', cell: ({ seenAt }) => <Ago at={seenAt} /> },
];

/** Marks something that is wrong with an icon and a word. */
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
    <Problem>
      {children} {words}
    </Problem>
  );
}
