import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'No connection. Please check your network.',
  MICROPHONE_BLOCKED: 'Please allow the microphone.',
  MICROPHONE_MISSING: 'Please connect a microphone.',
  MICROPHONE_INSECURE: 'This page is not secure.',
  MICROPHONE_LOST: 'The microphone is off.',
  SIMULATED_PROVIDER: 'The voice service is simulated here.',
  PROVIDER_UNSUPPORTED: 'The voice service did not take the call.',
  PROVIDER_REFUSED: 'The voice service did not take the call.',
  CALL_LOST: 'The call was lost.',
  TOOL_FAILED: 'That did not work.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = "Today's limit is reached. Please come back tomorrow.";

export const budgets: BudgetWords = {
  session: 'This conversation has reached its limit. Please start a new one.',
  day: NO_MORE_TODAY,
  week: "This week's limit is reached. Please come back next week.",
  month: "This month's limit is reached. Please come back next month.",
  once: 'The limit is reached. Please contact the website.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'This assistant is taking a break. Please come back later.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Something in this request is not right. Please check it and try again.',
  NOT_FOUND: 'There is nothing here.',
  METHOD_NOT_ALLOWED: 'This is not possible here.',
  AMBIGUOUS: 'This fits more than one. Please name it in full.',
  COUNT_CHANGED: 'This would now concern more than before. Please look again.',
  CONFLICT: 'This conflicts with what already exists. Please change it and try again.',
  PAYLOAD_TOO_LARGE: 'This is too large to send.',
  UNSUPPORTED_MEDIA_TYPE: 'This kind of content is not supported.',
  IDEMPOTENCY_MISMATCH: 'This request was already made with other content.',
  QUERY_TOO_BROAD: 'This is too much to show at once. Please narrow it down.',
  AUTH_REQUIRED: 'Please log in to continue.',
  INVALID_OTP: 'This code is wrong or has expired. Please request a new code.',
  INVALID_WIDGET_KEY: 'This assistant is not set up correctly. Please contact the website.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'We could not verify your browser. Please refresh the page and try again.',
  FORBIDDEN: 'You are not allowed to do this.',
  ORIGIN_MISMATCH: 'This assistant is not available on this website.',
  SESSION_DURATION_EXCEEDED: 'This conversation has ended. Please start a new one.',
  SESSION_NOT_FOUND: 'This conversation was not found. Please start a new one.',
  RESUME_REFUSED: 'This conversation cannot be continued. Please start a new one.',
  USAGE_IMPLAUSIBLE: 'This usage report was not accepted.',
  CALL_IN_PROGRESS: 'The conversation is being connected already. Please wait a moment.',
  CALL_NOT_OPEN: 'The conversation is not connected at the moment. Please try again.',
  TOOL_UNKNOWN: 'This answer came too late and was not used.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Too many conversations are open. Please close one and try again.',
  RATE_LIMIT_EXCEEDED: 'Too many requests. Please wait a moment and try again.',
  INTERNAL_ERROR: 'Something went wrong on our side. Please try again.',
  UPSTREAM_ERROR: 'The voice service is not available right now. Please try again.',
  SERVICE_UNAVAILABLE: 'The service is busy right now. Please try again in a moment.',
  UPSTREAM_TIMEOUT: 'The voice service did not answer in time. Please try again.',
};

export const ends: EndWords = {
  duration_exceeded: 'This conversation has reached its maximum length. Please start a new one.',
  idle_exceeded: 'This conversation was quiet for too long and has ended. Please start a new one.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'The limit is reached, so this conversation has ended. Please try again later.',
  closed_by_client: 'This conversation was closed. Please start a new one.',
  closed_by_operator: 'This conversation was closed by an operator. Please start a new one.',
  closed_by_tool: 'This conversation is over. You can start a new one.',
  key_revoked: 'This assistant is no longer available on this website.',
  upstream_ended: 'The voice service ended this conversation. Please start a new one.',
  create_failed: 'This conversation could not be opened. Please start a new one.',
  abandoned: 'This conversation was quiet for too long and has ended. Please start a new one.',
};
