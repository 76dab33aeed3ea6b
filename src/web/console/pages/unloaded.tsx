/** In the place of a page whose program did not come: the service was away, or is another version by now. */
export function Unloaded() {
  return (
    <div class="page">
      <div class="empty">
        <h1>This page could not be loaded</h1>
        <p>The service did not answer, or is a newer version than this window.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load the console again
          </button>
        </p>
      </div>
    </div>
  );
}
