import { own } from '../../../protocol/languages/es.ts';
import type { Words } from './words.ts';

export const words: Words = {
  title: 'Asistente de voz',
  launcher: 'Hable con nosotros',
  open: 'Abrir la conversación',
  close: 'Cerrar',
  start: 'Iniciar una conversación',
  agree: 'Aceptar e iniciar',
  again: 'Iniciar una nueva conversación',
  tryAgain: 'Intentar de nuevo',
  end: 'Finalizar',
  cancel: 'Cancelar',
  mute: 'Silenciar',
  unmute: 'Activar micrófono',
  captions: 'Subtítulos',
  microphone: 'Micrófono',
  write: 'Escribir un mensaje',
  send: 'Enviar',
  visitor: 'Usted',
  agent: 'Asistente',
  status: {
    ready: '¿En qué podemos ayudarle?',
    connecting: 'Conectando',
    listening: 'Escuchando',
    speaking: 'El asistente está hablando',
    muted: 'Su micrófono está silenciado',
    reconnecting: 'Volviendo a conectar',
    idle: '¿Sigue ahí?',
    over: 'Conversación terminada',
    failed: 'Eso no ha funcionado',
  },
  hint: {
    ready: 'Hable con naturalidad, como por teléfono.',
    connecting: 'Permita el micrófono si su navegador lo pide.',
    muted: 'El asistente no le oye.',
    idle: 'Diga algo para continuar.',
  },
  warning: {
    duration: 'Esta conversación termina {time}.',
    idle: 'Hay silencio. Esta conversación termina {time}.',
    quota: 'Casi se ha alcanzado el límite de hoy.',
    soon: 'Esta conversación termina pronto.',
  },
  retry: 'Podrá intentarlo de nuevo {time}.',
  ends: {},
  errors: {
    ...own,
    MICROPHONE_BLOCKED:
      'El micrófono está bloqueado. Permítalo en los ajustes junto a la barra de direcciones e inténtelo de nuevo.',
  },
};
