import type { OwnWords } from './words.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Keine Verbindung. Bitte prüfen Sie Ihr Netzwerk.',
  MICROPHONE_BLOCKED: 'Bitte erlauben Sie dieser Seite, das Mikrofon zu verwenden.',
  MICROPHONE_MISSING: 'Bitte schließen Sie ein Mikrofon an, oder beenden Sie das Programm, das es gerade verwendet.',
  MICROPHONE_INSECURE: 'Diese Seite darf das Mikrofon nicht verwenden, weil sie nicht sicher ist.',
  MICROPHONE_LOST: 'Das Mikrofon ist aus.',
  SIMULATED_PROVIDER: 'Der Sprachdienst wird hier nur simuliert.',
  PROVIDER_UNSUPPORTED: 'Der Sprachdienst hat den Anruf nicht angenommen.',
  PROVIDER_REFUSED: 'Der Sprachdienst hat den Anruf nicht angenommen.',
  CALL_LOST: 'Die Verbindung wurde unterbrochen.',
  TOOL_FAILED: 'Das hat leider nicht funktioniert.',
};
