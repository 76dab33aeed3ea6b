import { copy } from '../data/dialogs.ts';
import { Menu } from './menu.tsx';

/** A request that anybody with a token may make: no cookie, and the ref in the place of the id. */
export function curlOf(path: string): string {
  return `curl -H "Authorization: Bearer $SWITCHBOARD_TOKEN" '${location.origin}${path}'`;
}

export function copyLink(): void {
  void copy(location.href, 'Link');
}

interface Props {
  /** The path of the API that answered what is shown. */
  readonly path: string;
  /** Its bytes. */
  readonly text: string;
}

export function CopyMenu({ path, text }: Props) {
  return (
    <Menu name="Copy" label="Copy ▾">
      <div class="menu-list">
        <button type="button" data-closes onClick={copyLink}>
          Link <kbd>y</kbd>
        </button>
        <button type="button" data-closes onClick={() => void copy(text, 'JSON')}>
          JSON
        </button>
        <button type="button" data-closes onClick={() => void copy(curlOf(path), 'curl')}>
          curl <kbd>Y</kbd>
        </button>
      </div>
    </Menu>
  );
}
