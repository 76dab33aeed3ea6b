import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Sin conexión. Compruebe su red.',
  MICROPHONE_BLOCKED: 'Permita que esta página use el micrófono.',
  MICROPHONE_MISSING: 'Conecte un micrófono o cierre el programa que lo está usando.',
  MICROPHONE_INSECURE: 'Esta página no puede usar el micrófono porque no es segura.',
  MICROPHONE_LOST: 'El micrófono está apagado.',
  SIMULATED_PROVIDER: 'Aquí el servicio de voz es solo una simulación.',
  PROVIDER_UNSUPPORTED: 'El servicio de voz no ha aceptado la llamada.',
  PROVIDER_REFUSED: 'El servicio de voz no ha aceptado la llamada.',
  CALL_LOST: 'Se ha perdido la llamada.',
  TOOL_FAILED: 'No ha funcionado.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'Se ha alcanzado el límite de hoy. Vuelva mañana.';

export const budgets: BudgetWords = {
  session: 'Esta conversación ha alcanzado su límite. Inicie una nueva.',
  day: NO_MORE_TODAY,
  week: 'Se ha alcanzado el límite de esta semana. Vuelva la próxima semana.',
  month: 'Se ha alcanzado el límite de este mes. Vuelva el próximo mes.',
  once: 'Se ha alcanzado el límite. Póngase en contacto con el sitio web.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Este asistente está en pausa. Vuelva más tarde.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Hay un error en esta solicitud. Revísela e inténtelo de nuevo.',
  NOT_FOUND: 'Aquí no hay nada.',
  METHOD_NOT_ALLOWED: 'Esto no es posible aquí.',
  AMBIGUOUS: 'Hay más de un resultado. Indique el nombre completo.',
  COUNT_CHANGED: 'Ahora afectaría a más elementos que antes. Vuelva a comprobarlo.',
  CONFLICT: 'Esto no es compatible con lo que ya existe. Cámbielo e inténtelo de nuevo.',
  PAYLOAD_TOO_LARGE: 'El contenido es demasiado grande para enviarlo.',
  UNSUPPORTED_MEDIA_TYPE: 'Este tipo de contenido no es compatible.',
  IDEMPOTENCY_MISMATCH: 'Esta solicitud ya se envió con otro contenido.',
  QUERY_TOO_BROAD: 'Hay demasiados resultados para mostrarlos a la vez. Acote la búsqueda.',
  AUTH_REQUIRED: 'Inicie sesión para continuar.',
  INVALID_OTP: 'Este código no es correcto o ha caducado. Solicite uno nuevo.',
  INVALID_WIDGET_KEY:
    'Este asistente no está bien configurado. Póngase en contacto con los responsables del sitio web.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'No hemos podido verificar su navegador. Actualice la página e inténtelo de nuevo.',
  FORBIDDEN: 'No tiene permiso para hacer esto.',
  ORIGIN_MISMATCH: 'Este asistente no está disponible en este sitio web.',
  SESSION_DURATION_EXCEEDED: 'Esta conversación ha terminado. Inicie una nueva.',
  SESSION_NOT_FOUND: 'No se ha encontrado esta conversación. Inicie una nueva.',
  RESUME_REFUSED: 'Esta conversación no puede continuar. Inicie una nueva.',
  USAGE_IMPLAUSIBLE: 'No se ha aceptado este informe de uso.',
  CALL_IN_PROGRESS: 'La conversación ya se está conectando. Espere un momento.',
  CALL_NOT_OPEN: 'La conversación no está conectada en este momento. Inténtelo de nuevo.',
  TOOL_UNKNOWN: 'Esta respuesta llegó demasiado tarde y no se ha utilizado.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Hay demasiadas conversaciones abiertas. Cierre una e inténtelo de nuevo.',
  RATE_LIMIT_EXCEEDED: 'Demasiadas solicitudes. Espere un momento e inténtelo de nuevo.',
  INTERNAL_ERROR: 'Ha ocurrido un error por nuestra parte. Inténtelo de nuevo.',
  UPSTREAM_ERROR: 'El servicio de voz no está disponible en este momento. Inténtelo de nuevo.',
  SERVICE_UNAVAILABLE: 'El servicio está ocupado en este momento. Inténtelo de nuevo dentro de unos instantes.',
  UPSTREAM_TIMEOUT: 'El servicio de voz no ha respondido a tiempo. Inténtelo de nuevo.',
};

export const ends: EndWords = {
  duration_exceeded: 'Esta conversación ha alcanzado su duración máxima. Inicie una nueva.',
  idle_exceeded: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'Se ha alcanzado el límite y esta conversación ha terminado. Inténtelo de nuevo más tarde.',
  closed_by_client: 'Esta conversación se ha cerrado. Inicie una nueva.',
  closed_by_operator: 'Un operador ha cerrado esta conversación. Inicie una nueva.',
  closed_by_tool: 'Esta conversación ha terminado. Puede iniciar una nueva.',
  key_revoked: 'Este asistente ya no está disponible en este sitio web.',
  upstream_ended: 'El servicio de voz ha finalizado esta conversación. Inicie una nueva.',
  create_failed: 'No se ha podido abrir esta conversación. Inicie una nueva.',
  abandoned: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
};
