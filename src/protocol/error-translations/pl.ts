import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Brak połączenia. Proszę sprawdzić sieć.',
  MICROPHONE_BLOCKED: 'Proszę zezwolić tej stronie na używanie mikrofonu.',
  MICROPHONE_MISSING: 'Proszę podłączyć mikrofon lub zamknąć program, który go używa.',
  MICROPHONE_INSECURE: 'Ta strona nie może używać mikrofonu, ponieważ nie jest bezpieczna.',
  MICROPHONE_LOST: 'Mikrofon jest wyłączony.',
  SIMULATED_PROVIDER: 'Usługa głosowa jest tu tylko symulowana.',
  PROVIDER_UNSUPPORTED: 'Usługa głosowa nie przyjęła połączenia.',
  PROVIDER_REFUSED: 'Usługa głosowa nie przyjęła połączenia.',
  CALL_LOST: 'Połączenie zostało przerwane.',
  TOOL_FAILED: 'To się nie udało.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'Dzisiejszy limit został wyczerpany. Proszę wrócić jutro.';

export const budgets: BudgetWords = {
  session: 'Ta rozmowa osiągnęła swój limit. Proszę rozpocząć nową.',
  day: NO_MORE_TODAY,
  week: 'Limit na ten tydzień został wyczerpany. Proszę wrócić w przyszłym tygodniu.',
  month: 'Limit na ten miesiąc został wyczerpany. Proszę wrócić w przyszłym miesiącu.',
  once: 'Limit został wyczerpany. Proszę skontaktować się z właścicielem strony.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Ten asystent ma przerwę. Proszę wrócić później.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'W tym żądaniu jest błąd. Proszę je sprawdzić i spróbować ponownie.',
  NOT_FOUND: 'Nic tu nie ma.',
  METHOD_NOT_ALLOWED: 'Tutaj nie jest to możliwe.',
  AMBIGUOUS: 'Pasuje więcej niż jedna pozycja. Proszę podać pełną nazwę.',
  COUNT_CHANGED: 'Teraz dotyczyłoby to większej liczby pozycji niż wcześniej. Proszę sprawdzić ponownie.',
  CONFLICT: 'To koliduje z tym, co już istnieje. Proszę to zmienić i spróbować ponownie.',
  PAYLOAD_TOO_LARGE: 'Te dane są zbyt duże, aby je wysłać.',
  UNSUPPORTED_MEDIA_TYPE: 'Ten rodzaj treści nie jest obsługiwany.',
  IDEMPOTENCY_MISMATCH: 'To żądanie zostało już wysłane z inną treścią.',
  QUERY_TOO_BROAD: 'Wyników jest zbyt wiele, aby pokazać je naraz. Proszę zawęzić wyszukiwanie.',
  AUTH_REQUIRED: 'Proszę się zalogować, aby kontynuować.',
  INVALID_OTP: 'Ten kod jest nieprawidłowy lub wygasł. Proszę poprosić o nowy kod.',
  INVALID_WIDGET_KEY: 'Ten asystent nie jest poprawnie skonfigurowany. Proszę skontaktować się z właścicielem strony.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'Nie udało się zweryfikować przeglądarki. Proszę odświeżyć stronę i spróbować ponownie.',
  FORBIDDEN: 'Brak uprawnień do wykonania tej czynności.',
  ORIGIN_MISMATCH: 'Ten asystent nie jest dostępny na tej stronie.',
  SESSION_DURATION_EXCEEDED: 'Ta rozmowa się zakończyła. Proszę rozpocząć nową.',
  SESSION_NOT_FOUND: 'Nie znaleziono tej rozmowy. Proszę rozpocząć nową.',
  RESUME_REFUSED: 'Tej rozmowy nie można kontynuować. Proszę rozpocząć nową.',
  USAGE_IMPLAUSIBLE: 'Ten raport zużycia nie został przyjęty.',
  CALL_IN_PROGRESS: 'Trwa już łączenie rozmowy. Proszę chwilę poczekać.',
  CALL_NOT_OPEN: 'Rozmowa nie jest w tej chwili połączona. Proszę spróbować ponownie.',
  TOOL_UNKNOWN: 'Ta odpowiedź nadeszła zbyt późno i nie została użyta.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Otwartych jest zbyt wiele rozmów. Proszę zamknąć jedną i spróbować ponownie.',
  RATE_LIMIT_EXCEEDED: 'Zbyt wiele żądań. Proszę chwilę poczekać i spróbować ponownie.',
  INTERNAL_ERROR: 'Wystąpił błąd po naszej stronie. Proszę spróbować ponownie.',
  UPSTREAM_ERROR: 'Usługa głosowa jest w tej chwili niedostępna. Proszę spróbować ponownie.',
  SERVICE_UNAVAILABLE: 'Usługa jest w tej chwili zajęta. Proszę spróbować ponownie za chwilę.',
  UPSTREAM_TIMEOUT: 'Usługa głosowa nie odpowiedziała na czas. Proszę spróbować ponownie.',
};

export const ends: EndWords = {
  duration_exceeded: 'Ta rozmowa osiągnęła maksymalną długość. Proszę rozpocząć nową.',
  idle_exceeded: 'Ta rozmowa zakończyła się po zbyt długiej ciszy. Proszę rozpocząć nową.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'Limit został wyczerpany i ta rozmowa się zakończyła. Proszę spróbować później.',
  closed_by_client: 'Ta rozmowa została zamknięta. Proszę rozpocząć nową.',
  closed_by_operator: 'Ta rozmowa została zamknięta przez operatora. Proszę rozpocząć nową.',
  closed_by_tool: 'Ta rozmowa się zakończyła. Można rozpocząć nową.',
  key_revoked: 'Ten asystent nie jest już dostępny na tej stronie.',
  upstream_ended: 'Usługa głosowa zakończyła tę rozmowę. Proszę rozpocząć nową.',
  create_failed: 'Nie udało się otworzyć tej rozmowy. Proszę rozpocząć nową.',
  abandoned: 'Ta rozmowa zakończyła się po zbyt długiej ciszy. Proszę rozpocząć nową.',
};
