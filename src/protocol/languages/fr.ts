import type { OwnWords } from './words.ts';

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
