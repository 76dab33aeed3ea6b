import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

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

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'Das Limit für heute ist erreicht. Bitte kommen Sie morgen wieder.';

export const budgets: BudgetWords = {
  session: 'Dieses Gespräch hat sein Limit erreicht. Bitte beginnen Sie ein neues.',
  day: NO_MORE_TODAY,
  week: 'Das Limit für diese Woche ist erreicht. Bitte kommen Sie nächste Woche wieder.',
  month: 'Das Limit für diesen Monat ist erreicht. Bitte kommen Sie nächsten Monat wieder.',
  once: 'Das Limit ist erreicht. Bitte wenden Sie sich an den Betreiber der Website.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Dieser Assistent macht gerade Pause. Bitte versuchen Sie es später noch einmal.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Mit dieser Anfrage stimmt etwas nicht. Bitte prüfen Sie Ihre Angaben und versuchen Sie es erneut.',
  NOT_FOUND: 'Hier gibt es nichts.',
  METHOD_NOT_ALLOWED: 'Das ist hier nicht möglich.',
  AMBIGUOUS: 'Diese Angabe trifft auf mehrere Einträge zu. Bitte geben Sie sie vollständig an.',
  COUNT_CHANGED: 'Davon wären jetzt mehr Einträge betroffen als zuvor. Bitte sehen Sie noch einmal nach.',
  CONFLICT: 'Das passt nicht zu dem, was schon vorhanden ist. Bitte ändern Sie es, und versuchen Sie es erneut.',
  PAYLOAD_TOO_LARGE: 'Diese Daten sind zu groß.',
  UNSUPPORTED_MEDIA_TYPE: 'Diese Art von Inhalt wird nicht unterstützt.',
  IDEMPOTENCY_MISMATCH: 'Diese Anfrage wurde bereits mit anderem Inhalt gesendet.',
  QUERY_TOO_BROAD: 'Das ist zu viel für eine Ansicht. Bitte grenzen Sie die Auswahl ein.',
  AUTH_REQUIRED: 'Bitte melden Sie sich an, um fortzufahren.',
  INVALID_OTP: 'Dieser Code ist falsch oder abgelaufen. Bitte fordern Sie einen neuen an.',
  INVALID_WIDGET_KEY:
    'Dieser Assistent ist nicht richtig eingerichtet. Bitte wenden Sie sich an den Betreiber der Website.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'Wir konnten Ihren Browser nicht überprüfen. Bitte laden Sie die Seite neu und versuchen Sie es erneut.',
  FORBIDDEN: 'Dazu sind Sie nicht berechtigt.',
  ORIGIN_MISMATCH: 'Dieser Assistent ist auf dieser Website nicht verfügbar.',
  SESSION_DURATION_EXCEEDED: 'Dieses Gespräch ist beendet. Bitte beginnen Sie ein neues.',
  SESSION_NOT_FOUND: 'Dieses Gespräch wurde nicht gefunden. Bitte beginnen Sie ein neues.',
  RESUME_REFUSED: 'Dieses Gespräch kann nicht fortgesetzt werden. Bitte beginnen Sie ein neues.',
  USAGE_IMPLAUSIBLE: 'Diese Verbrauchsmeldung wurde nicht angenommen.',
  CALL_IN_PROGRESS: 'Das Gespräch wird gerade verbunden. Bitte warten Sie einen Moment.',
  CALL_NOT_OPEN: 'Das Gespräch ist gerade nicht verbunden. Bitte versuchen Sie es noch einmal.',
  TOOL_UNKNOWN: 'Diese Antwort kam zu spät und wurde nicht verwendet.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Es sind zu viele Gespräche offen. Bitte beenden Sie eines und versuchen Sie es erneut.',
  RATE_LIMIT_EXCEEDED: 'Zu viele Anfragen. Bitte warten Sie einen Moment und versuchen Sie es erneut.',
  INTERNAL_ERROR: 'Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es erneut.',
  UPSTREAM_ERROR: 'Der Sprachdienst ist gerade nicht verfügbar. Bitte versuchen Sie es erneut.',
  SERVICE_UNAVAILABLE: 'Der Dienst ist gerade ausgelastet. Bitte versuchen Sie es gleich noch einmal.',
  UPSTREAM_TIMEOUT: 'Der Sprachdienst hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es erneut.',
};

export const ends: EndWords = {
  duration_exceeded: 'Dieses Gespräch hat seine Höchstdauer erreicht. Bitte beginnen Sie ein neues.',
  idle_exceeded: 'In diesem Gespräch war es zu lange still, daher wurde es beendet. Bitte beginnen Sie ein neues.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'Das Limit ist erreicht, daher wurde dieses Gespräch beendet. Bitte versuchen Sie es später erneut.',
  closed_by_client: 'Dieses Gespräch wurde beendet. Bitte beginnen Sie ein neues.',
  closed_by_operator: 'Dieses Gespräch wurde vom Betreiber beendet. Bitte beginnen Sie ein neues.',
  closed_by_tool: 'Dieses Gespräch ist beendet. Sie können ein neues beginnen.',
  key_revoked: 'Dieser Assistent ist auf dieser Website nicht mehr verfügbar.',
  upstream_ended: 'Der Sprachdienst hat dieses Gespräch beendet. Bitte beginnen Sie ein neues.',
  create_failed: 'Dieses Gespräch konnte nicht aufgebaut werden. Bitte beginnen Sie ein neues.',
  abandoned: 'In diesem Gespräch war es zu lange still, daher wurde es beendet. Bitte beginnen Sie ein neues.',
};
