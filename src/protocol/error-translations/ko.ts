import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: '연결되지 않았습니다. 네트워크를 확인해 주세요.',
  MICROPHONE_BLOCKED: '이 페이지에서 마이크를 사용하도록 허용해 주세요.',
  MICROPHONE_MISSING: '마이크를 연결하거나, 마이크를 사용 중인 프로그램을 종료해 주세요.',
  MICROPHONE_INSECURE: '이 페이지는 안전하지 않아 마이크를 사용할 수 없습니다.',
  MICROPHONE_LOST: '마이크가 꺼져 있습니다.',
  SIMULATED_PROVIDER: '여기서는 음성 서비스가 시뮬레이션으로만 제공됩니다.',
  PROVIDER_UNSUPPORTED: '음성 서비스가 통화를 받지 않았습니다.',
  PROVIDER_REFUSED: '음성 서비스가 통화를 받지 않았습니다.',
  CALL_LOST: '통화가 끊어졌습니다.',
  TOOL_FAILED: '작동하지 않았습니다.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = '오늘의 한도에 도달했습니다. 내일 다시 방문해 주세요.';

export const budgets: BudgetWords = {
  session: '이 대화의 한도에 도달했습니다. 새 대화를 시작해 주세요.',
  day: NO_MORE_TODAY,
  week: '이번 주의 한도에 도달했습니다. 다음 주에 다시 방문해 주세요.',
  month: '이번 달의 한도에 도달했습니다. 다음 달에 다시 방문해 주세요.',
  once: '한도에 도달했습니다. 웹사이트 담당자에게 문의해 주세요.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = '이 어시스턴트는 잠시 쉬고 있습니다. 나중에 다시 방문해 주세요.';

export const errors: ErrorWords = {
  INVALID_REQUEST: '요청에 잘못된 부분이 있습니다. 확인한 후 다시 시도해 주세요.',
  NOT_FOUND: '여기에는 아무것도 없습니다.',
  METHOD_NOT_ALLOWED: '여기서는 할 수 없는 작업입니다.',
  AMBIGUOUS: '여러 항목이 일치합니다. 전체 이름을 입력해 주세요.',
  COUNT_CHANGED: '이제 이전보다 더 많은 항목이 해당됩니다. 다시 확인해 주세요.',
  CONFLICT: '이미 있는 내용과 충돌합니다. 변경한 후 다시 시도해 주세요.',
  PAYLOAD_TOO_LARGE: '내용이 너무 커서 보낼 수 없습니다.',
  UNSUPPORTED_MEDIA_TYPE: '지원되지 않는 형식의 내용입니다.',
  IDEMPOTENCY_MISMATCH: '이 요청은 이미 다른 내용으로 전송되었습니다.',
  QUERY_TOO_BROAD: '한 번에 표시하기에는 너무 많습니다. 범위를 좁혀 주세요.',
  AUTH_REQUIRED: '계속하려면 로그인해 주세요.',
  INVALID_OTP: '코드가 올바르지 않거나 만료되었습니다. 새 코드를 요청해 주세요.',
  INVALID_WIDGET_KEY: '이 어시스턴트가 올바르게 설정되지 않았습니다. 웹사이트 담당자에게 문의해 주세요.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: '브라우저를 확인할 수 없습니다. 페이지를 새로 고친 후 다시 시도해 주세요.',
  FORBIDDEN: '이 작업을 수행할 권한이 없습니다.',
  ORIGIN_MISMATCH: '이 웹사이트에서는 이 어시스턴트를 사용할 수 없습니다.',
  SESSION_DURATION_EXCEEDED: '이 대화는 종료되었습니다. 새 대화를 시작해 주세요.',
  SESSION_NOT_FOUND: '이 대화를 찾을 수 없습니다. 새 대화를 시작해 주세요.',
  RESUME_REFUSED: '이 대화를 계속할 수 없습니다. 새 대화를 시작해 주세요.',
  USAGE_IMPLAUSIBLE: '이 사용량 보고가 접수되지 않았습니다.',
  CALL_IN_PROGRESS: '대화가 이미 연결되고 있습니다. 잠시만 기다려 주세요.',
  CALL_NOT_OPEN: '현재 대화가 연결되어 있지 않습니다. 다시 시도해 주세요.',
  TOOL_UNKNOWN: '응답이 너무 늦게 도착하여 사용되지 않았습니다.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: '열려 있는 대화가 너무 많습니다. 하나를 닫고 다시 시도해 주세요.',
  RATE_LIMIT_EXCEEDED: '요청이 너무 많습니다. 잠시 기다린 후 다시 시도해 주세요.',
  INTERNAL_ERROR: '서비스에 문제가 발생했습니다. 다시 시도해 주세요.',
  UPSTREAM_ERROR: '현재 음성 서비스를 이용할 수 없습니다. 다시 시도해 주세요.',
  SERVICE_UNAVAILABLE: '현재 서비스가 혼잡합니다. 잠시 후 다시 시도해 주세요.',
  UPSTREAM_TIMEOUT: '음성 서비스가 제때 응답하지 않았습니다. 다시 시도해 주세요.',
};

export const ends: EndWords = {
  duration_exceeded: '이 대화가 최대 시간에 도달했습니다. 새 대화를 시작해 주세요.',
  idle_exceeded: '오랫동안 말씀이 없어 대화가 종료되었습니다. 새 대화를 시작해 주세요.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: '한도에 도달하여 대화가 종료되었습니다. 나중에 다시 시도해 주세요.',
  closed_by_client: '이 대화가 닫혔습니다. 새 대화를 시작해 주세요.',
  closed_by_operator: '운영자가 이 대화를 종료했습니다. 새 대화를 시작해 주세요.',
  closed_by_tool: '이 대화가 끝났습니다. 새 대화를 시작할 수 있습니다.',
  key_revoked: '이 웹사이트에서는 더 이상 이 어시스턴트를 사용할 수 없습니다.',
  upstream_ended: '음성 서비스가 이 대화를 종료했습니다. 새 대화를 시작해 주세요.',
  create_failed: '이 대화를 열 수 없었습니다. 새 대화를 시작해 주세요.',
  abandoned: '오랫동안 말씀이 없어 대화가 종료되었습니다. 새 대화를 시작해 주세요.',
};
