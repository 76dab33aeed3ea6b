import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Pas de connexion. Veuillez vérifier votre réseau.',
  MICROPHONE_BLOCKED: 'Veuillez autoriser cette page à utiliser le microphone.',
  MICROPHONE_MISSING: 'Veuillez brancher un microphone, ou fermer le programme qui l’utilise.',
  MICROPHONE_INSECURE: 'Cette page ne peut pas utiliser le microphone, car elle n’est pas sécurisée.',
  MICROPHONE_LOST: 'Le microphone est désactivé.',
  SIMULATED_PROVIDER: 'Le service vocal est seulement simulé ici.',
  PROVIDER_UNSUPPORTED: 'Le service vocal n’a pas pris l’appel.',
  PROVIDER_REFUSED: 'Le service vocal n’a pas pris l’appel.',
  CALL_LOST: 'L’appel a été interrompu.',
  TOOL_FAILED: 'Cela n’a pas fonctionné.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'La limite du jour est atteinte. Veuillez revenir demain.';

export const budgets: BudgetWords = {
  session: 'Cette conversation a atteint sa limite. Veuillez en démarrer une nouvelle.',
  day: NO_MORE_TODAY,
  week: 'La limite de la semaine est atteinte. Veuillez revenir la semaine prochaine.',
  month: 'La limite du mois est atteinte. Veuillez revenir le mois prochain.',
  once: 'La limite est atteinte. Veuillez contacter les responsables du site.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Cet assistant est en pause. Veuillez revenir plus tard.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Cette demande contient une erreur. Veuillez la vérifier, puis réessayer.',
  NOT_FOUND: 'Il n’y a rien ici.',
  METHOD_NOT_ALLOWED: 'Cette action n’est pas possible ici.',
  AMBIGUOUS: 'Plusieurs éléments correspondent. Veuillez indiquer le nom complet.',
  COUNT_CHANGED: 'Davantage d’éléments seraient maintenant concernés. Veuillez vérifier de nouveau.',
  CONFLICT: 'Cela ne s’accorde pas avec ce qui existe déjà. Veuillez le modifier et réessayer.',
  PAYLOAD_TOO_LARGE: 'Ce contenu est trop volumineux pour être envoyé.',
  UNSUPPORTED_MEDIA_TYPE: 'Ce type de contenu n’est pas pris en charge.',
  IDEMPOTENCY_MISMATCH: 'Cette demande a déjà été envoyée avec un autre contenu.',
  QUERY_TOO_BROAD: 'Il y a trop d’éléments à afficher. Veuillez préciser votre recherche.',
  AUTH_REQUIRED: 'Veuillez vous connecter pour continuer.',
  INVALID_OTP: 'Ce code est incorrect ou a expiré. Veuillez en demander un nouveau.',
  INVALID_WIDGET_KEY: 'Cet assistant n’est pas configuré correctement. Veuillez contacter les responsables du site.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'Nous n’avons pas pu vérifier votre navigateur. Veuillez actualiser la page, puis réessayer.',
  FORBIDDEN: 'Vous n’êtes pas autorisé à effectuer cette action.',
  ORIGIN_MISMATCH: 'Cet assistant n’est pas disponible sur ce site.',
  SESSION_DURATION_EXCEEDED: 'Cette conversation est terminée. Veuillez en démarrer une nouvelle.',
  SESSION_NOT_FOUND: 'Cette conversation est introuvable. Veuillez en démarrer une nouvelle.',
  RESUME_REFUSED: 'Cette conversation ne peut pas être reprise. Veuillez en démarrer une nouvelle.',
  USAGE_IMPLAUSIBLE: 'Ce relevé d’utilisation n’a pas été accepté.',
  CALL_IN_PROGRESS: 'La conversation est déjà en cours de connexion. Veuillez patienter un instant.',
  CALL_NOT_OPEN: 'La conversation n’est pas connectée en ce moment. Veuillez réessayer.',
  TOOL_UNKNOWN: 'Cette réponse est arrivée trop tard et n’a pas été utilisée.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Trop de conversations sont ouvertes. Veuillez en fermer une, puis réessayer.',
  RATE_LIMIT_EXCEEDED: 'Trop de demandes. Veuillez patienter un instant, puis réessayer.',
  INTERNAL_ERROR: 'Un problème est survenu de notre côté. Veuillez réessayer.',
  UPSTREAM_ERROR: 'Le service vocal n’est pas disponible pour le moment. Veuillez réessayer.',
  SERVICE_UNAVAILABLE: 'Le service est très sollicité. Veuillez réessayer dans un instant.',
  UPSTREAM_TIMEOUT: 'Le service vocal n’a pas répondu à temps. Veuillez réessayer.',
};

export const ends: EndWords = {
  duration_exceeded: 'Cette conversation a atteint sa durée maximale. Veuillez en démarrer une nouvelle.',
  idle_exceeded: 'Cette conversation a pris fin après un trop long silence. Veuillez en démarrer une nouvelle.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'La limite est atteinte et cette conversation a pris fin. Veuillez réessayer plus tard.',
  closed_by_client: 'Cette conversation a été fermée. Veuillez en démarrer une nouvelle.',
  closed_by_operator: 'Cette conversation a été fermée par un opérateur. Veuillez en démarrer une nouvelle.',
  closed_by_tool: 'Cette conversation est terminée. Vous pouvez en démarrer une nouvelle.',
  key_revoked: 'Cet assistant n’est plus disponible sur ce site.',
  upstream_ended: 'Le service vocal a mis fin à cette conversation. Veuillez en démarrer une nouvelle.',
  create_failed: 'Cette conversation n’a pas pu être établie. Veuillez en démarrer une nouvelle.',
  abandoned: 'Cette conversation a pris fin après un trop long silence. Veuillez en démarrer une nouvelle.',
};
