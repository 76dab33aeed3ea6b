/**
 * `<switchboard-widget>`: a voice agent on a page, by one tag (docs/widget.md).
 *
 *     <script src="https://voice.example.com/switchboard-widget.js" defer></script>
 *     <switchboard-widget widget-key="w_…" tenant-id="acme" agent-id="support"></switchboard-widget>
 */
import { defineElement } from './element.ts';

/** Switchboard is where this script was loaded from. */
const script = document.currentScript as HTMLScriptElement | null;
defineElement(new URL('.', script?.src || import.meta.url || location.href).href);
