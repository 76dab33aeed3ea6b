import { own } from '../../../protocol/languages/de.ts';
import type { Words } from './words.ts';

export const words: Words = {
  title: 'Sprachassistent',
  launcher: 'Sprechen Sie mit uns',
  open: 'Gespräch öffnen',
  close: 'Schließen',
  start: 'Gespräch beginnen',
  agree: 'Zustimmen und beginnen',
  again: 'Neues Gespräch beginnen',
  tryAgain: 'Erneut versuchen',
  end: 'Beenden',
  cancel: 'Abbrechen',
  mute: 'Stumm schalten',
  unmute: 'Stummschaltung aufheben',
  captions: 'Untertitel',
  microphone: 'Mikrofon',
  write: 'Nachricht schreiben',
  send: 'Senden',
  visitor: 'Sie',
  agent: 'Assistent',
  status: {
    ready: 'Wie können wir helfen?',
    connecting: 'Verbindung wird aufgebaut',
    listening: 'Hört zu',
    speaking: 'Der Assistent spricht',
    muted: 'Sie sind stumm geschaltet',
    reconnecting: 'Verbindung wird wiederhergestellt',
    idle: 'Sind Sie noch da?',
    over: 'Gespräch beendet',
    failed: 'Das hat nicht funktioniert',
  },
  hint: {
    ready: 'Sprechen Sie einfach, wie am Telefon.',
    connecting: 'Bitte erlauben Sie das Mikrofon, wenn Ihr Browser danach fragt.',
    muted: 'Der Assistent hört Sie nicht.',
    idle: 'Sagen Sie etwas, um fortzufahren.',
  },
  warning: {
    duration: 'Dieses Gespräch endet {time}.',
    idle: 'Es ist still. Dieses Gespräch endet {time}.',
    quota: 'Das Limit für heute ist fast erreicht.',
    soon: 'Dieses Gespräch endet bald.',
  },
  retry: 'Sie können es {time} erneut versuchen.',
  ends: {},
  errors: {
    ...own,
    MICROPHONE_BLOCKED:
      'Das Mikrofon ist gesperrt. Bitte erlauben Sie es in den Einstellungen neben der Adresszeile Ihres Browsers, und versuchen Sie es erneut.',
  },
};
