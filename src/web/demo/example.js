import { connect } from '../widget/main.ts';

/** Starts a session; `show` is your page. Call it from a click, so that the browser lets the page speak and listen. */
export async function startWidget(options, show) {
  let session;
  try {
    session = await connect(options); // { widgetKey, tenantId, agentId, audio: true, email? … }
  } catch (error) {
    show.over(error.userMessage); // no microphone, a limit, no network: in words for the visitor
    return undefined;
  }
  session.on('state', ({ state }) => show.state(state)); // engaged, idle, stale, ended
  session.on('media', ({ state, error }) => {
    show.call(state); // connecting, connected, reconnecting, lost
    if (error) show.problem(error.userMessage); // the session goes on without a call
  });
  session.on('warning', ({ reason, secondsLeft }) => show.warning(reason, secondsLeft));
  session.on('error', ({ userMessage }) => show.problem(userMessage)); // the session goes on
  session.on('ended', ({ userMessage }) => show.over(userMessage));
  // The tokens of each response count against the visitor's day.
  const reportUsage = ({ total_tokens }) => ({ tokens: total_tokens });
  if (options.audio) session.connectAudio({ reportUsage }).catch((error) => show.problem(error.userMessage));
  return session;
}
