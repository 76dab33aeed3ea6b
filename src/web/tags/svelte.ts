/** `<switchboard-widget>` in Svelte's templates: `import type {} from 'switchboard-client/svelte'`. */

import type { HTMLAttributes as Attributes } from 'svelte/elements';
import type {
  SwitchboardWidgetAttributes,
  SwitchboardWidgetElement,
  SwitchboardWidgetHandlers,
} from '../element/api.ts';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'switchboard-widget': Attributes<SwitchboardWidgetElement> &
      SwitchboardWidgetAttributes &
      SwitchboardWidgetHandlers;
  }
}
