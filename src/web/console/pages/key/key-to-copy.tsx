import type { OperatorKey } from '../../../../protocol/operator/key.ts';
import { Copied, CopyButton } from '../../components/codes.tsx';

/** The HTML that a page needs. Nothing in it is secret. */
function snippetOf({ key, tenantId, agents }: OperatorKey, ofTenant: readonly string[]): string {
  const [agent] = agents ?? ofTenant;
  const service = location.origin;
  const sdk = `'${service}/widget.mjs'`;
  return `<button id="talk">Talk to us</button>
<script type="module">
  import { connect } from ${sdk};
  document.getElementById('talk').onclick = async () => {
    const session = await connect({
      baseUrl: '${service}',
      widgetKey: '${key}',
      tenantId: '${tenantId}',${agent === undefined ? '' : `\n      agentId: '${agent}',`}
      audio: true,
    });
    await session.connectAudio();
  };
</script>`;
}

interface Props {
  readonly widgetKey: OperatorKey;
  /** The agents of the key's tenant. */
  readonly agents: readonly string[];
}

/** A key and the HTML that uses it, each with a copy button. */
export function KeyToCopy({ widgetKey, agents }: Props) {
  const snippet = snippetOf(widgetKey, agents);
  return (
    <>
      <Copied text={widgetKey.key} what="Key" />
      <details class="snippet">
        <summary>For the website</summary>
        <pre tabIndex={0} aria-label="The page">
          {snippet}
        </pre>
        <CopyButton text={snippet} what="Snippet" />
      </details>
    </>
  );
}
