import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Geen verbinding. Controleer uw netwerk.',
  MICROPHONE_BLOCKED: 'Geef deze pagina toestemming om de microfoon te gebruiken.',
  MICROPHONE_MISSING: 'Sluit een microfoon aan, of sluit het programma dat hem gebruikt.',
  MICROPHONE_INSECURE: 'Deze pagina mag de microfoon niet gebruiken, omdat ze niet beveiligd is.',
  MICROPHONE_LOST: 'De microfoon staat uit.',
  SIMULATED_PROVIDER: 'De spraakdienst wordt hier alleen gesimuleerd.',
  PROVIDER_UNSUPPORTED: 'De spraakdienst heeft het gesprek niet aangenomen.',
  PROVIDER_REFUSED: 'De spraakdienst heeft het gesprek niet aangenomen.',
  CALL_LOST: 'De verbinding is verbroken.',
  TOOL_FAILED: 'Dat is niet gelukt.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'De limiet van vandaag is bereikt. Kom morgen terug.';

export const budgets: BudgetWords = {
  session: 'Dit gesprek heeft zijn limiet bereikt. Begin een nieuw gesprek.',
  day: NO_MORE_TODAY,
  week: 'De limiet van deze week is bereikt. Kom volgende week terug.',
  month: 'De limiet van deze maand is bereikt. Kom volgende maand terug.',
  once: 'De limiet is bereikt. Neem contact op met de beheerder van de website.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Deze assistent heeft even pauze. Kom later terug.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Er klopt iets niet in dit verzoek. Controleer het en probeer het opnieuw.',
  NOT_FOUND: 'Hier is niets te vinden.',
  METHOD_NOT_ALLOWED: 'Dat kan hier niet.',
  AMBIGUOUS: 'Er zijn meerdere resultaten. Geef de volledige naam op.',
  COUNT_CHANGED: 'Dit zou nu meer items betreffen dan eerst. Kijk het nog eens na.',
  CONFLICT: 'Dit botst met wat er al is. Wijzig het en probeer het opnieuw.',
  PAYLOAD_TOO_LARGE: 'Dit is te groot om te versturen.',
  UNSUPPORTED_MEDIA_TYPE: 'Dit soort inhoud wordt niet ondersteund.',
  IDEMPOTENCY_MISMATCH: 'Dit verzoek is al met andere inhoud verstuurd.',
  QUERY_TOO_BROAD: 'Dit is te veel om in één keer te tonen. Verfijn uw zoekopdracht.',
  AUTH_REQUIRED: 'Meld u aan om door te gaan.',
  INVALID_OTP: 'Deze code is onjuist of verlopen. Vraag een nieuwe code aan.',
  INVALID_WIDGET_KEY: 'Deze assistent is niet juist ingesteld. Neem contact op met de beheerder van de website.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'We konden uw browser niet controleren. Vernieuw de pagina en probeer het opnieuw.',
  FORBIDDEN: 'U mag dit niet doen.',
  ORIGIN_MISMATCH: 'Deze assistent is niet beschikbaar op deze website.',
  SESSION_DURATION_EXCEEDED: 'Dit gesprek is beëindigd. Begin een nieuw gesprek.',
  SESSION_NOT_FOUND: 'Dit gesprek is niet gevonden. Begin een nieuw gesprek.',
  RESUME_REFUSED: 'Dit gesprek kan niet worden voortgezet. Begin een nieuw gesprek.',
  USAGE_IMPLAUSIBLE: 'Deze verbruiksmelding is niet geaccepteerd.',
  CALL_IN_PROGRESS: 'Het gesprek wordt al verbonden. Een ogenblik geduld.',
  CALL_NOT_OPEN: 'Het gesprek is op dit moment niet verbonden. Probeer het opnieuw.',
  TOOL_UNKNOWN: 'Dit antwoord kwam te laat en is niet gebruikt.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Er zijn te veel gesprekken geopend. Sluit er een en probeer het opnieuw.',
  RATE_LIMIT_EXCEEDED: 'Te veel verzoeken. Wacht even en probeer het opnieuw.',
  INTERNAL_ERROR: 'Er ging bij ons iets mis. Probeer het opnieuw.',
  UPSTREAM_ERROR: 'De spraakdienst is op dit moment niet beschikbaar. Probeer het opnieuw.',
  SERVICE_UNAVAILABLE: 'De dienst is op dit moment bezet. Probeer het zo dadelijk opnieuw.',
  UPSTREAM_TIMEOUT: 'De spraakdienst heeft niet op tijd geantwoord. Probeer het opnieuw.',
};

export const ends: EndWords = {
  duration_exceeded: 'Dit gesprek heeft zijn maximale duur bereikt. Begin een nieuw gesprek.',
  idle_exceeded: 'Het was te lang stil in dit gesprek, daarom is het beëindigd. Begin een nieuw gesprek.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'De limiet is bereikt, daarom is dit gesprek beëindigd. Probeer het later opnieuw.',
  closed_by_client: 'Dit gesprek is gesloten. Begin een nieuw gesprek.',
  closed_by_operator: 'Dit gesprek is door een medewerker gesloten. Begin een nieuw gesprek.',
  closed_by_tool: 'Dit gesprek is afgelopen. U kunt een nieuw gesprek beginnen.',
  key_revoked: 'Deze assistent is niet meer beschikbaar op deze website.',
  upstream_ended: 'De spraakdienst heeft dit gesprek beëindigd. Begin een nieuw gesprek.',
  create_failed: 'Dit gesprek kon niet worden geopend. Begin een nieuw gesprek.',
  abandoned: 'Het was te lang stil in dit gesprek, daarom is het beëindigd. Begin een nieuw gesprek.',
};
