import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { InEach } from './words.ts';

/** What an end user reads when a session has ended, by why it did. */
export const END_WORDS: Readonly<Record<EndReason, InEach>> = {
  duration_exceeded: {
    en: 'This conversation has reached its maximum length. Please start a new one.',
    de: 'Dieses Gespräch hat seine Höchstdauer erreicht. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a atteint sa durée maximale. Veuillez en démarrer une nouvelle.',
    es: 'Esta conversación ha alcanzado su duración máxima. Inicie una nueva.',
    ja: '会話の最大時間に達しました。新しい会話を始めてください。',
  },
  idle_exceeded: {
    en: 'This conversation was quiet for too long and has ended. Please start a new one.',
    de: 'In diesem Gespräch war es zu lange still, daher wurde es beendet. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a pris fin après un trop long silence. Veuillez en démarrer une nouvelle.',
    es: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
    ja: '長い間お話がなかったため、会話を終了しました。新しい会話を始めてください。',
  },
  quota_exceeded: {
    // It may be that of a session, a day, a week, a month or once: the refusal of the next one says when to come back.
    en: 'The limit is reached, so this conversation has ended. Please try again later.',
    de: 'Das Limit ist erreicht, daher wurde dieses Gespräch beendet. Bitte versuchen Sie es später erneut.',
    fr: 'La limite est atteinte et cette conversation a pris fin. Veuillez réessayer plus tard.',
    es: 'Se ha alcanzado el límite y esta conversación ha terminado. Inténtelo de nuevo más tarde.',
    ja: '利用上限に達したため、会話を終了しました。時間をおいて、もう一度お試しください。',
  },
  closed_by_client: {
    en: 'This conversation was closed. Please start a new one.',
    de: 'Dieses Gespräch wurde beendet. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a été fermée. Veuillez en démarrer une nouvelle.',
    es: 'Esta conversación se ha cerrado. Inicie una nueva.',
    ja: 'この会話は終了しました。新しい会話を始めてください。',
  },
  closed_by_operator: {
    en: 'This conversation was closed by an operator. Please start a new one.',
    de: 'Dieses Gespräch wurde vom Betreiber beendet. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a été fermée par un opérateur. Veuillez en démarrer une nouvelle.',
    es: 'Un operador ha cerrado esta conversación. Inicie una nueva.',
    ja: 'この会話は運営者によって終了されました。新しい会話を始めてください。',
  },
  closed_by_tool: {
    en: 'This conversation is over. You can start a new one.',
    de: 'Dieses Gespräch ist beendet. Sie können ein neues beginnen.',
    fr: 'Cette conversation est terminée. Vous pouvez en démarrer une nouvelle.',
    es: 'Esta conversación ha terminado. Puede iniciar una nueva.',
    ja: 'この会話は終了しました。新しい会話を始めることができます。',
  },
  key_revoked: {
    en: 'This assistant is no longer available on this website.',
    de: 'Dieser Assistent ist auf dieser Website nicht mehr verfügbar.',
    fr: 'Cet assistant n’est plus disponible sur ce site.',
    es: 'Este asistente ya no está disponible en este sitio web.',
    ja: 'このサイトでは、このアシスタントをご利用いただけなくなりました。',
  },
  upstream_ended: {
    en: 'The voice service ended this conversation. Please start a new one.',
    de: 'Der Sprachdienst hat dieses Gespräch beendet. Bitte beginnen Sie ein neues.',
    fr: 'Le service vocal a mis fin à cette conversation. Veuillez en démarrer une nouvelle.',
    es: 'El servicio de voz ha finalizado esta conversación. Inicie una nueva.',
    ja: '音声サービスによって会話が終了しました。新しい会話を始めてください。',
  },
  create_failed: {
    en: 'This conversation could not be opened. Please start a new one.',
    de: 'Dieses Gespräch konnte nicht aufgebaut werden. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation n’a pas pu être établie. Veuillez en démarrer une nouvelle.',
    es: 'No se ha podido abrir esta conversación. Inicie una nueva.',
    ja: '会話を開始できませんでした。新しい会話を始めてください。',
  },
  abandoned: {
    en: 'This conversation was quiet for too long and has ended. Please start a new one.',
    de: 'In diesem Gespräch war es zu lange still, daher wurde es beendet. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a pris fin après un trop long silence. Veuillez en démarrer une nouvelle.',
    es: 'Esta conversación ha terminado tras un silencio demasiado largo. Inicie una nueva.',
    ja: '長い間お話がなかったため、会話を終了しました。新しい会話を始めてください。',
  },
};

/** The same in few words, for operators. */
export const END_LABELS: Readonly<Record<EndReason, string>> = {
  duration_exceeded: 'maximum length',
  idle_exceeded: 'quiet for too long',
  quota_exceeded: 'quota of the day',
  closed_by_client: 'closed by client',
  closed_by_operator: 'ended by operator',
  closed_by_tool: 'ended by tool',
  key_revoked: 'key revoked',
  upstream_ended: 'ended by provider',
  create_failed: 'create failed',
  abandoned: 'given up as stale',
};
