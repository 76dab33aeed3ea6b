import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { viewText } from '../voice/records.ts';

/**
 * The answer to a heartbeat of an engaged session as text: what JSON.stringify would make of the frame, at a third of its cost. Only the id can hold
 * a character that needs escaping.
 */
export function heartbeatAnswer(record: VoiceRecord, at: number, id: string | number | undefined): string {
  const idText = id === undefined ? '' : `"id":${typeof id === 'string' ? JSON.stringify(id) : id},`;
  return `{"type":"heartbeat",${idText}"session":${viewText(record, at)},"state":"engaged"}`;
}
