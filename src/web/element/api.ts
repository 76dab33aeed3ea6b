/**
 * The types of `<switchboard-widget>`, for pages that are written in TypeScript:
 *
 *     document.querySelector('switchboard-widget')?.start();
 *     document.addEventListener('switchboard-ended', ({ detail }) => console.log(detail.userMessage));
 */

import type { Session, SessionEvents, ToolHandlers } from '../widget/api.ts';

/** Words in the place of the element's own. */
export interface Texts {
  readonly title?: string;
  /** Beside the title, and a sentence before a conversation: that the visitor speaks with an AI. */
  readonly ai?: string;
  readonly tellAi?: string;
  readonly launcher?: string;
  readonly open?: string;
  readonly close?: string;
  readonly start?: string;
  readonly agree?: string;
  readonly again?: string;
  readonly tryAgain?: string;
  readonly end?: string;
  readonly endNow?: string;
  readonly endAgain?: string;
  readonly cancel?: string;
  readonly hold?: string;
  readonly mute?: string;
  readonly unmute?: string;
  readonly captions?: string;
  readonly copy?: string;
  readonly copied?: string;
  readonly selected?: string;
  readonly rate?: string;
  /** `{rating}` is from 1 to 5. */
  readonly rating?: string;
  readonly rated?: string;
  readonly microphone?: string;
  readonly write?: string;
  readonly send?: string;
  readonly interrupt?: string;
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
  readonly hint?: {
    readonly ready?: string;
    readonly readyToHold?: string;
    readonly connecting?: string;
    readonly muted?: string;
    readonly reconnecting?: string;
    readonly idle?: string;
    /** Of a visitor who writes. */
    readonly idleWritten?: string;
  };
  /** `{time}` is such as "in 42 seconds". */
  readonly warning?: {
    readonly duration?: string;
    readonly idle?: string;
    readonly quota?: string;
    readonly soon?: string;
  };
  readonly retry?: string;
  /** By the reasons of `ended`. */
  readonly ends?: { readonly [reason: string]: string };
  /** By codes. */
  readonly errors?: { readonly [code: string]: string };
}

export interface SwitchboardWidgetElement extends HTMLElement {
  /** Whether the panel is; the attribute. */
  open: boolean;
  /** From the next conversation on. */
  tools?: ToolHandlers;
  texts: Texts;
  /** The SDK's session, while there is one. */
  readonly session: Session | undefined;
  readonly muted: boolean;
  /** Opens the panel and begins a conversation, or shows the consent line. */
  start(): void;
  /** The same without a microphone, now and from then on; a conversation that is spoken goes on in writing. */
  write(): void;
  end(): Promise<void>;
  mute(on?: boolean): void;
}

/** Each event of the SDK, which bubbles and leaves shadow roots. */
export type SwitchboardWidgetEvents = {
  readonly [K in keyof SessionEvents as `switchboard-${K}`]: CustomEvent<SessionEvents[K]>;
};

/** The attributes of the tag, as a template writes them. */
export interface SwitchboardWidgetAttributes {
  'widget-key'?: string;
  'tenant-id'?: string;
  'agent-id'?: string;
  /** Names the visitor, who then has limits of their own. */
  email?: string;
  /** Where Switchboard is; by default where the script came from. */
  'base-url'?: string;
  /** Such as `de`; by default that of the page. */
  language?: string;
  placement?: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left' | 'inline';
  theme?: 'auto' | 'light' | 'dark';
  /** A line before the first conversation, with links as `[privacy](https://…)`. */
  consent?: string;
  captions?: 'on' | 'off';
  open?: boolean;
  /** `off`: leaving the page ends the conversation. */
  resume?: 'on' | 'off';
}

/** Handlers of its events as JSX names them: `onswitchboard-ended`. */
export type SwitchboardWidgetHandlers = {
  [K in keyof SwitchboardWidgetEvents as `on${K}`]?: (event: SwitchboardWidgetEvents[K]) => void;
};

declare global {
  interface HTMLElementTagNameMap {
    'switchboard-widget': SwitchboardWidgetElement;
  }
  /** Of elements, documents and windows. */
  interface GlobalEventHandlersEventMap extends SwitchboardWidgetEvents {}
}
