import type { OwnWords } from './words.ts';

export const own: OwnWords = {
  NETWORK_ERROR: '接続できません。ネットワークをご確認ください。',
  MICROPHONE_BLOCKED: 'このページでのマイクの使用を許可してください。',
  MICROPHONE_MISSING: 'マイクを接続するか、マイクを使用中のプログラムを終了してください。',
  MICROPHONE_INSECURE: 'このページは安全ではないため、マイクを使用できません。',
  MICROPHONE_LOST: 'マイクがオフになっています。',
  SIMULATED_PROVIDER: 'ここでは音声サービスはシミュレーションです。',
  PROVIDER_UNSUPPORTED: '音声サービスが通話に応じませんでした。',
  PROVIDER_REFUSED: '音声サービスが通話に応じませんでした。',
  CALL_LOST: '通話が切断されました。',
  TOOL_FAILED: 'うまくいきませんでした。',
};
