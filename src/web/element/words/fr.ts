import { own } from '../../../protocol/languages/fr.ts';
import type { Words } from './words.ts';

export const words: Words = {
  title: 'Assistant vocal',
  launcher: 'Parlez avec nous',
  open: 'Ouvrir la conversation',
  close: 'Fermer',
  start: 'Démarrer une conversation',
  agree: 'Accepter et démarrer',
  again: 'Démarrer une nouvelle conversation',
  tryAgain: 'Réessayer',
  end: 'Terminer',
  cancel: 'Annuler',
  mute: 'Couper le micro',
  unmute: 'Réactiver le micro',
  captions: 'Sous-titres',
  microphone: 'Microphone',
  write: 'Écrire un message',
  send: 'Envoyer',
  visitor: 'Vous',
  agent: 'Assistant',
  status: {
    ready: 'Comment pouvons-nous vous aider ?',
    connecting: 'Connexion en cours',
    listening: 'À l’écoute',
    speaking: 'L’assistant parle',
    muted: 'Votre micro est coupé',
    reconnecting: 'Reconnexion en cours',
    idle: 'Êtes-vous toujours là ?',
    over: 'Conversation terminée',
    failed: 'Cela n’a pas fonctionné',
  },
  hint: {
    ready: 'Parlez simplement, comme au téléphone.',
    connecting: 'Veuillez autoriser le microphone si votre navigateur le demande.',
    muted: 'L’assistant ne vous entend pas.',
    idle: 'Dites quelque chose pour continuer.',
  },
  warning: {
    duration: 'Cette conversation se termine {time}.',
    idle: 'Personne ne parle. Cette conversation se termine {time}.',
    quota: 'La limite du jour est presque atteinte.',
    soon: 'Cette conversation se termine bientôt.',
  },
  retry: 'Vous pourrez réessayer {time}.',
  ends: {},
  errors: {
    ...own,
    MICROPHONE_BLOCKED:
      'Le microphone est bloqué. Veuillez l’autoriser dans les réglages à côté de la barre d’adresse, puis réessayer.',
  },
};
