import type { OwnWords } from './words.ts';

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
