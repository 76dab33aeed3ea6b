/** `<switchboard-widget>` in Vue's templates: `import type {} from 'switchboard-client/vue'`. */

import type { EmitFn, HTMLAttributes, PublicProps } from 'vue';
import type { SwitchboardWidgetAttributes, SwitchboardWidgetElement, SwitchboardWidgetEvents } from '../element/api.ts';

type Emits = { [K in keyof SwitchboardWidgetEvents]: (event: SwitchboardWidgetEvents[K]) => void };

declare module 'vue' {
  interface GlobalComponents {
    'switchboard-widget': new () => SwitchboardWidgetElement & {
      $props: HTMLAttributes & SwitchboardWidgetAttributes & PublicProps;
      $emit: EmitFn<Emits>;
    };
  }
}
