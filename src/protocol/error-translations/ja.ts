import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

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

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = '本日の利用上限に達しました。明日またお越しください。';

export const budgets: BudgetWords = {
  session: 'この会話は利用上限に達しました。新しい会話を始めてください。',
  day: NO_MORE_TODAY,
  week: '今週の利用上限に達しました。来週またお越しください。',
  month: '今月の利用上限に達しました。来月またお越しください。',
  once: '利用上限に達しました。サイトの運営者にお問い合わせください。',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'このアシスタントは現在休止中です。しばらくしてから、もう一度お越しください。';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'リクエストの内容に誤りがあります。ご確認のうえ、もう一度お試しください。',
  NOT_FOUND: 'ここには何もありません。',
  METHOD_NOT_ALLOWED: 'この操作はここではできません。',
  AMBIGUOUS: '該当するものが複数あります。完全な名前を指定してください。',
  COUNT_CHANGED: '対象の数が前回より増えています。もう一度ご確認ください。',
  CONFLICT: 'すでにある内容と両立しません。変更してから、もう一度お試しください。',
  PAYLOAD_TOO_LARGE: 'データが大きすぎるため送信できません。',
  UNSUPPORTED_MEDIA_TYPE: 'この種類のコンテンツには対応していません。',
  IDEMPOTENCY_MISMATCH: 'このリクエストは、別の内容ですでに送信されています。',
  QUERY_TOO_BROAD: '一度に表示できる件数を超えています。条件を絞り込んでください。',
  AUTH_REQUIRED: '続けるにはログインしてください。',
  INVALID_OTP: 'コードが正しくないか、有効期限が切れています。新しいコードを取得してください。',
  INVALID_WIDGET_KEY: 'このアシスタントは正しく設定されていません。サイトの運営者にお問い合わせください。',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'お使いのブラウザーを確認できませんでした。ページを再読み込みして、もう一度お試しください。',
  FORBIDDEN: 'この操作を行う権限がありません。',
  ORIGIN_MISMATCH: 'このサイトでは、このアシスタントをご利用いただけません。',
  SESSION_DURATION_EXCEEDED: 'この会話は終了しました。新しい会話を始めてください。',
  SESSION_NOT_FOUND: 'この会話は見つかりませんでした。新しい会話を始めてください。',
  RESUME_REFUSED: 'この会話は続けられません。新しい会話を始めてください。',
  USAGE_IMPLAUSIBLE: 'この利用量の報告は受け付けられませんでした。',
  CALL_IN_PROGRESS: '会話はすでに接続中です。少々お待ちください。',
  CALL_NOT_OPEN: '現在、会話は接続されていません。もう一度お試しください。',
  TOOL_UNKNOWN: 'この応答は遅すぎたため、使用されませんでした。',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: '開いている会話が多すぎます。ほかの会話を終了してから、もう一度お試しください。',
  RATE_LIMIT_EXCEEDED: 'リクエストが多すぎます。少し待ってから、もう一度お試しください。',
  INTERNAL_ERROR: 'サーバー側で問題が発生しました。もう一度お試しください。',
  UPSTREAM_ERROR: '音声サービスは現在ご利用いただけません。もう一度お試しください。',
  SERVICE_UNAVAILABLE: 'サービスが混み合っています。しばらくしてから、もう一度お試しください。',
  UPSTREAM_TIMEOUT: '音声サービスから時間内に応答がありませんでした。もう一度お試しください。',
};

export const ends: EndWords = {
  duration_exceeded: '会話の最大時間に達しました。新しい会話を始めてください。',
  idle_exceeded: '長い間お話がなかったため、会話を終了しました。新しい会話を始めてください。',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: '利用上限に達したため、会話を終了しました。時間をおいて、もう一度お試しください。',
  closed_by_client: 'この会話は終了しました。新しい会話を始めてください。',
  closed_by_operator: 'この会話は運営者によって終了されました。新しい会話を始めてください。',
  closed_by_tool: 'この会話は終了しました。新しい会話を始めることができます。',
  key_revoked: 'このサイトでは、このアシスタントをご利用いただけなくなりました。',
  upstream_ended: '音声サービスによって会話が終了しました。新しい会話を始めてください。',
  create_failed: '会話を開始できませんでした。新しい会話を始めてください。',
  abandoned: '長い間お話がなかったため、会話を終了しました。新しい会話を始めてください。',
};
