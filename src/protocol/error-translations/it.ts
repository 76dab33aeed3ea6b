import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Nessuna connessione. Controlli la Sua rete.',
  MICROPHONE_BLOCKED: 'Consenta a questa pagina di usare il microfono.',
  MICROPHONE_MISSING: 'Colleghi un microfono o chiuda il programma che lo sta usando.',
  MICROPHONE_INSECURE: 'Questa pagina non può usare il microfono perché non è sicura.',
  MICROPHONE_LOST: 'Il microfono è spento.',
  SIMULATED_PROVIDER: 'Qui il servizio vocale è solo simulato.',
  PROVIDER_UNSUPPORTED: 'Il servizio vocale non ha accettato la chiamata.',
  PROVIDER_REFUSED: 'Il servizio vocale non ha accettato la chiamata.',
  CALL_LOST: 'La chiamata è stata interrotta.',
  TOOL_FAILED: 'Non ha funzionato.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'Il limite di oggi è stato raggiunto. Torni domani.';

export const budgets: BudgetWords = {
  session: 'Questa conversazione ha raggiunto il limite. Ne inizi una nuova.',
  day: NO_MORE_TODAY,
  week: 'Il limite di questa settimana è stato raggiunto. Torni la prossima settimana.',
  month: 'Il limite di questo mese è stato raggiunto. Torni il prossimo mese.',
  once: 'Il limite è stato raggiunto. Contatti i responsabili del sito.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Questo assistente è in pausa. Torni più tardi.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'C’è un errore in questa richiesta. La controlli e riprovi.',
  NOT_FOUND: 'Qui non c’è nulla.',
  METHOD_NOT_ALLOWED: 'Questo qui non è possibile.',
  AMBIGUOUS: 'C’è più di un risultato. Indichi il nome completo.',
  COUNT_CHANGED: 'Ora riguarderebbe più elementi di prima. Controlli di nuovo.',
  CONFLICT: 'È in conflitto con ciò che esiste già. Lo modifichi e riprovi.',
  PAYLOAD_TOO_LARGE: 'Il contenuto è troppo grande per essere inviato.',
  UNSUPPORTED_MEDIA_TYPE: 'Questo tipo di contenuto non è supportato.',
  IDEMPOTENCY_MISMATCH: 'Questa richiesta è già stata inviata con un altro contenuto.',
  QUERY_TOO_BROAD: 'Ci sono troppi risultati da mostrare in una volta. Restringa la ricerca.',
  AUTH_REQUIRED: 'Acceda per continuare.',
  INVALID_OTP: 'Questo codice è errato o scaduto. Ne richieda uno nuovo.',
  INVALID_WIDGET_KEY: 'Questo assistente non è configurato correttamente. Contatti i responsabili del sito.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'Non è stato possibile verificare il Suo browser. Ricarichi la pagina e riprovi.',
  FORBIDDEN: 'Non è autorizzato a farlo.',
  ORIGIN_MISMATCH: 'Questo assistente non è disponibile su questo sito.',
  SESSION_DURATION_EXCEEDED: 'Questa conversazione è terminata. Ne inizi una nuova.',
  SESSION_NOT_FOUND: 'Questa conversazione non è stata trovata. Ne inizi una nuova.',
  RESUME_REFUSED: 'Questa conversazione non può continuare. Ne inizi una nuova.',
  USAGE_IMPLAUSIBLE: 'Questo rapporto di utilizzo non è stato accettato.',
  CALL_IN_PROGRESS: 'La conversazione è già in fase di connessione. Attenda un momento.',
  CALL_NOT_OPEN: 'La conversazione non è connessa in questo momento. Riprovi.',
  TOOL_UNKNOWN: 'Questa risposta è arrivata troppo tardi e non è stata usata.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Ci sono troppe conversazioni aperte. Ne chiuda una e riprovi.',
  RATE_LIMIT_EXCEEDED: 'Troppe richieste. Attenda un momento e riprovi.',
  INTERNAL_ERROR: 'Si è verificato un errore da parte nostra. Riprovi.',
  UPSTREAM_ERROR: 'Il servizio vocale non è disponibile in questo momento. Riprovi.',
  SERVICE_UNAVAILABLE: 'Il servizio è occupato in questo momento. Riprovi tra poco.',
  UPSTREAM_TIMEOUT: 'Il servizio vocale non ha risposto in tempo. Riprovi.',
};

export const ends: EndWords = {
  duration_exceeded: 'Questa conversazione ha raggiunto la durata massima. Ne inizi una nuova.',
  idle_exceeded: 'Questa conversazione è terminata dopo un silenzio troppo lungo. Ne inizi una nuova.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'Il limite è stato raggiunto e questa conversazione è terminata. Riprovi più tardi.',
  closed_by_client: 'Questa conversazione è stata chiusa. Ne inizi una nuova.',
  closed_by_operator: 'Questa conversazione è stata chiusa da un operatore. Ne inizi una nuova.',
  closed_by_tool: 'Questa conversazione è terminata. Può iniziarne una nuova.',
  key_revoked: 'Questo assistente non è più disponibile su questo sito.',
  upstream_ended: 'Il servizio vocale ha terminato questa conversazione. Ne inizi una nuova.',
  create_failed: 'Non è stato possibile aprire questa conversazione. Ne inizi una nuova.',
  abandoned: 'Questa conversazione è terminata dopo un silenzio troppo lungo. Ne inizi una nuova.',
};
