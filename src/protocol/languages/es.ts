import type { Words } from './words.ts';

export const errors: Words['errors'] = {
  INVALID_REQUEST: 'Hay un error en esta solicitud. Revísela e inténtelo de nuevo.',
  AUTH_REQUIRED: 'Inicie sesión para continuar.',
  INVALID_OTP: 'Este código no es correcto o ha caducado. Solicite uno nuevo.',
  INVALID_WIDGET_KEY:
    'Este asistente no está bien configurado. Póngase en contacto con los responsables del sitio web.',
  KEY_PAUSED: 'Este asistente está en pausa. Vuelva más tarde.',
  BOT_BLOCKED: 'No hemos podido verificar su navegador. Actualice la página e inténtelo de nuevo.',
  FORBIDDEN: 'No tiene permiso para hacer esto.',
  ORIGIN_MISMATCH: 'Este asistente no está disponible en este sitio web.',
  SESSION_DURATION_EXCEEDED: 'Esta conversación ha terminado. Inicie una nueva.',
  NOT_FOUND: 'Aquí no hay nada.',
  SESSION_NOT_FOUND: 'No se ha encontrado esta conversación. Inicie una nueva.',
  METHOD_NOT_ALLOWED: 'Esto no es posible aquí.',
  AMBIGUOUS: 'Hay más de un resultado. Indique el nombre completo.',
  COUNT_CHANGED: 'Ahora afectaría a más elementos que antes. Vuelva a comprobarlo.',
  CONFLICT: 'Este nombre ya está en uso. Elija otro.',
  PAYLOAD_TOO_LARGE: 'El contenido es demasiado grande para enviarlo.',
  UNSUPPORTED_MEDIA_TYPE: 'Este tipo de contenido no es compatible.',
  IDEMPOTENCY_MISMATCH: 'Esta solicitud ya se envió con otro contenido.',
  USAGE_IMPLAUSIBLE: 'No se ha aceptado este informe de uso.',
  QUERY_TOO_BROAD: 'Hay demasiados resultados para mostrarlos a la vez. Acote la búsqueda.',
  DAILY_QUOTA_EXCEEDED: 'Se ha alcanzado el límite de hoy. Vuelva mañana.',
  CALL_IN_PROGRESS: 'La conversación ya se está conectando. Espere un momento.',
  MAX_CONCURRENT_SESSIONS: 'Hay demasiadas conversaciones abiertas. Cierre una e inténtelo de nuevo.',
  RATE_LIMIT_EXCEEDED: 'Demasiadas solicitudes. Espere un momento e inténtelo de nuevo.',
  INTERNAL_ERROR: 'Ha ocurrido un error por nuestra parte. Inténtelo de nuevo.',
  UPSTREAM_ERROR: 'El servicio de voz no está disponible en este momento. Inténtelo de nuevo.',
  SERVICE_UNAVAILABLE: 'El servicio está ocupado en este momento. Inténtelo de nuevo dentro de unos instantes.',
  UPSTREAM_TIMEOUT: 'El servicio de voz no ha respondido a tiempo. Inténtelo de nuevo.',
};

export const ends: Words['ends'] = {
  duration_exceeded: 'Esta conversación ha alcanzado su duración máxima. Inicie una nueva.',
  idle_exceeded: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
  quota_exceeded: 'Se ha alcanzado el límite de hoy y esta conversación ha terminado. Vuelva mañana.',
  closed_by_client: 'Esta conversación se ha cerrado. Inicie una nueva.',
  closed_by_operator: 'Un operador ha cerrado esta conversación. Inicie una nueva.',
  key_revoked: 'Este asistente ya no está disponible en este sitio web.',
  upstream_ended: 'El servicio de voz ha finalizado esta conversación. Inicie una nueva.',
  create_failed: 'No se ha podido abrir esta conversación. Inicie una nueva.',
  abandoned: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
};

export const own: Words['own'] = {
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
