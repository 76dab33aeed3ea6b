/** `<switchboard-widget>` in Preact's JSX: `import type {} from 'switchboard-client/preact'`. */

import type { HTMLAttributes } from 'preact';
import type {
  SwitchboardWidgetAttributes,
  SwitchboardWidgetElement,
  SwitchboardWidgetHandlers,
} from '../element/api.ts';

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'switchboard-widget': HTMLAttributes<SwitchboardWidgetElement> &
        SwitchboardWidgetAttributes &
        SwitchboardWidgetHandlers;
    }
  }
}
