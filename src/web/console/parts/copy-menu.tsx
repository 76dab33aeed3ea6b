import { copy } from '../data/dialogs.ts';
import { useKeys } from './keys.ts';
import { Menu } from './menu.tsx';

/** A request that anybody with a token may make: no cookie, and the ref in the place of the id. */
function curlOf(path: string): string {
  return `curl -H "Authorization: Bearer $SWITCHBOARD_TOKEN" '${location.origin}${path}'`;
}

function copyLink(): void {
  void copy(location.href, 'Link');
}

interface Props {
  /** The path of the API that answered what is shown. */
  readonly path: string;
  /** Its bytes. */
  readonly text: string;
}

/** Copies what the page shows, by the menu or by its keys. */
export function CopyMenu({ path, text }: Props) {
  const copyCurl = (): void => void copy(curlOf(path), 'curl');
  useKeys({ y: copyLink, Y: copyCurl });
  return (
    <Menu name="Copy" label="Copy ▾">
      <div class="menu-list">
        <button type="button" data-closes onClick={copyLink}>
          Link <kbd>y</kbd>
        </button>
        <button type="button" data-closes onClick={() => void copy(text, 'JSON')}>
          JSON
        </button>
        <button type="button" data-closes onClick={copyCurl}>
          curl <kbd>Y</kbd>
        </button>
      </div>
    </Menu>
  );
}
