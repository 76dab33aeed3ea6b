import { useSwitchboard } from 'switchboard-client/react';

/** <Talk baseUrl="https://voice.example.com" widgetKey="w_…" agentId="support" /> */
export function Talk(options) {
  const { state, media, error, warning, transcript, speaking, muted, start, end, mute, send } = useSwitchboard(options);
  const isOn = state === 'opening' || media !== undefined;

  /** The visitor may also type to the agent. */
  function say(event) {
    event.preventDefault();
    send(new FormData(event.target).get('text'));
    event.target.reset();
  }

  return (
    <section>
      {/* `start` asks for the microphone, so call it on a click. The session ends when the component unmounts. */}
      <button onClick={isOn ? end : start}>{isOn ? 'Hang up' : 'Talk to us'}</button>
      {media === 'connected' && (
        <>
          <button aria-pressed={muted} onClick={() => mute(!muted)}>
            Mute
          </button>
          <form onSubmit={say}>
            <input name="text" aria-label="Write to the agent" required />
          </form>
        </>
      )}

      <p role="status">{speaking.agent ? 'The agent speaks' : speaking.visitor ? 'You speak' : (media ?? state)}</p>
      {warning && <p role="status">This conversation ends soon ({warning.reason}).</p>}
      {/* A message for the visitor: no microphone, a limit, a lost call, the end by a limit. */}
      {error && <p role="alert">{error.userMessage}</p>}

      <ol>
        {transcript.map(({ id, who, text }) => (
          <li key={id}>
            {who === 'agent' ? 'Agent' : 'You'}: {text}
          </li>
        ))}
      </ol>
    </section>
  );
}
