/**
 * The types of `<switchboard-widget>`, for pages written in TypeScript:
 *
 *     document.querySelector('switchboard-widget')?.start();
 *     document.addEventListener('switchboard-ended', ({ detail }) => console.log(detail.userMessage));
 */

import type { Session, SessionEvents, ToolHandlers } from '../widget/api.ts';

/** Texts that replace the element's own. */
export interface Texts {
  /** The panel's name. */
  readonly title?: string;
  /** Say that the visitor speaks with an AI: `ai` beside the title, `tellAi` as a sentence before a conversation. */
  readonly ai?: string;
  readonly tellAi?: string;
  /** On the button that opens the panel. */
  readonly launcher?: string;
  readonly open?: string;
  readonly close?: string;
  readonly start?: string;
  /** Replaces `start` below a consent line. */
  readonly agree?: string;
  readonly again?: string;
  /** Replaces `again` after a failure. */
  readonly tryAgain?: string;
  readonly end?: string;
  /** Replaces `end` for a few seconds after it was pressed while somebody spoke; `endAgain` is what screen readers say then. */
  readonly endNow?: string;
  readonly endAgain?: string;
  readonly cancel?: string;
  /** On the push-to-talk button. */
  readonly hold?: string;
  readonly mute?: string;
  readonly unmute?: string;
  readonly captions?: string;
  /** On the button that copies the captions; after it has copied; and after it could only select them for the visitor to copy. */
  readonly copy?: string;
  readonly copied?: string;
  readonly selected?: string;
  /** After a conversation: asks for a rating; names each star, where `{rating}` is from 1 to 5; thanks for it. */
  readonly rate?: string;
  readonly rating?: string;
  readonly rated?: string;
  readonly microphone?: string;
  readonly write?: string;
  readonly send?: string;
  /** On the button that stops the agent while it is speaking. */
  readonly interrupt?: string;
  /** On the button that switches to writing, and on the one that switches back to speaking. */
  readonly writeInstead?: string;
  readonly speakInstead?: string;
  readonly visitor?: string;
  readonly agent?: string;
  readonly status?: {
    readonly ready?: string;
    readonly connecting?: string;
    readonly listening?: string;
    readonly waiting?: string;
    readonly reading?: string;
    readonly speaking?: string;
    readonly thinking?: string;
    readonly muted?: string;
    readonly reconnecting?: string;
    readonly idle?: string;
    readonly over?: string;
    readonly failed?: string;
  };
  /** What the visitor can do, below the status. Most have a status's name; some are for visitors who write or use push-to-talk. */
  readonly hint?: {
    readonly ready?: string;
    readonly readyToHold?: string;
    readonly connecting?: string;
    readonly muted?: string;
    readonly reconnecting?: string;
    readonly idle?: string;
    /** For a visitor who writes. */
    readonly idleWritten?: string;
  };
  /** `{time}` is replaced by a time such as "in 42 seconds". */
  readonly warning?: {
    readonly duration?: string;
    readonly idle?: string;
    readonly quota?: string;
    readonly soon?: string;
  };
  readonly retry?: string;
  /** By the `reason` of the `ended` event. They replace the server's texts, which are already in the visitor's language. */
  readonly ends?: { readonly [reason: string]: string };
  /** By error code: those of the SDK, and any of the server's that a page words itself. */
  readonly errors?: { readonly [code: string]: string };
}

export interface SwitchboardWidgetElement extends HTMLElement {
  /** Whether the panel is open; reflects the attribute. */
  open: boolean;
  /** The page's tools, as in `connect`. They apply from the next conversation on. */
  tools?: ToolHandlers;
  texts: Texts;
  /** The SDK's session; undefined while there is none. */
  readonly session: Session | undefined;
  readonly muted: boolean;
  /** Opens the panel and begins a conversation, or first shows the consent line. */
  start(): void;
  /** The same without a microphone, now and from then on. A conversation that is being spoken continues in writing. */
  write(): void;
  end(): Promise<void>;
  mute(on?: boolean): void;
}

/** The SDK's events, each as a DOM event that bubbles and crosses shadow roots. */
export type SwitchboardWidgetEvents = {
  readonly [K in keyof SessionEvents as `switchboard-${K}`]: CustomEvent<SessionEvents[K]>;
};

/** The attributes of the tag, as written in a template. */
export interface SwitchboardWidgetAttributes {
  'widget-key'?: string;
  'tenant-id'?: string;
  'agent-id'?: string;
  /** Identifies the visitor, who then has limits of their own. */
  email?: string;
  /** Switchboard's address; by default where the script was loaded from. */
  'base-url'?: string;
  /** A language tag such as `de`; by default the page's language. */
  language?: string;
  placement?: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left' | 'inline';
  theme?: 'auto' | 'light' | 'dark';
  /** A line that is shown before the first conversation, with links as `[privacy](https://…)`. */
  consent?: string;
  captions?: 'on' | 'off';
  open?: boolean;
  /** `off`: leaving the page ends the conversation, and the next page does not continue it. */
  resume?: 'on' | 'off';
}

/** Handlers of the element's events as JSX names them: `onswitchboard-ended`. */
export type SwitchboardWidgetHandlers = {
  [K in keyof SwitchboardWidgetEvents as `on${K}`]?: (event: SwitchboardWidgetEvents[K]) => void;
};

declare global {
  interface HTMLElementTagNameMap {
    'switchboard-widget': SwitchboardWidgetElement;
  }
  /** Adds the events to elements, documents and windows. */
  interface GlobalEventHandlersEventMap extends SwitchboardWidgetEvents {}
}
