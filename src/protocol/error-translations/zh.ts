import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: '无法连接。请检查您的网络。',
  MICROPHONE_BLOCKED: '请允许此页面使用麦克风。',
  MICROPHONE_MISSING: '请连接麦克风，或关闭正在使用麦克风的程序。',
  MICROPHONE_INSECURE: '此页面不安全，因此无法使用麦克风。',
  MICROPHONE_LOST: '麦克风已关闭。',
  SIMULATED_PROVIDER: '此处的语音服务仅为模拟。',
  PROVIDER_UNSUPPORTED: '语音服务未接受此次通话。',
  PROVIDER_REFUSED: '语音服务未接受此次通话。',
  CALL_LOST: '通话已中断。',
  TOOL_FAILED: '操作未成功。',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = '今天的使用上限已达到。请明天再来。';

export const budgets: BudgetWords = {
  session: '本次对话已达到上限。请开始新的对话。',
  day: NO_MORE_TODAY,
  week: '本周的使用上限已达到。请下周再来。',
  month: '本月的使用上限已达到。请下个月再来。',
  once: '使用上限已达到。请联系网站管理员。',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = '该助手正在休息。请稍后再来。';

export const errors: ErrorWords = {
  INVALID_REQUEST: '此请求有误。请检查后重试。',
  NOT_FOUND: '这里没有任何内容。',
  METHOD_NOT_ALLOWED: '此处无法进行此操作。',
  AMBIGUOUS: '有多个匹配项。请提供完整名称。',
  COUNT_CHANGED: '现在涉及的项目比之前更多。请再次确认。',
  CONFLICT: '这与已有内容冲突。请修改后重试。',
  PAYLOAD_TOO_LARGE: '内容过大，无法发送。',
  UNSUPPORTED_MEDIA_TYPE: '不支持此类内容。',
  IDEMPOTENCY_MISMATCH: '此请求已使用其他内容发送过。',
  QUERY_TOO_BROAD: '内容过多，无法一次显示。请缩小范围。',
  AUTH_REQUIRED: '请登录以继续。',
  INVALID_OTP: '此验证码不正确或已过期。请获取新的验证码。',
  INVALID_WIDGET_KEY: '该助手未正确设置。请联系网站管理员。',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: '无法验证您的浏览器。请刷新页面后重试。',
  FORBIDDEN: '您无权执行此操作。',
  ORIGIN_MISMATCH: '该助手在此网站上不可用。',
  SESSION_DURATION_EXCEEDED: '本次对话已结束。请开始新的对话。',
  SESSION_NOT_FOUND: '未找到此对话。请开始新的对话。',
  RESUME_REFUSED: '此对话无法继续。请开始新的对话。',
  USAGE_IMPLAUSIBLE: '此用量报告未被接受。',
  CALL_IN_PROGRESS: '对话正在连接中。请稍候。',
  CALL_NOT_OPEN: '对话目前未连接。请重试。',
  TOOL_UNKNOWN: '此回答到得太晚，未被使用。',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: '打开的对话过多。请关闭一个后重试。',
  RATE_LIMIT_EXCEEDED: '请求过多。请稍候再试。',
  INTERNAL_ERROR: '我们这边出现了问题。请重试。',
  UPSTREAM_ERROR: '语音服务目前不可用。请重试。',
  SERVICE_UNAVAILABLE: '服务目前繁忙。请稍后重试。',
  UPSTREAM_TIMEOUT: '语音服务未及时响应。请重试。',
};

export const ends: EndWords = {
  duration_exceeded: '本次对话已达到最长时间。请开始新的对话。',
  idle_exceeded: '本次对话因长时间无人说话而结束。请开始新的对话。',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: '使用上限已达到，本次对话已结束。请稍后再试。',
  closed_by_client: '本次对话已关闭。请开始新的对话。',
  closed_by_operator: '本次对话已被管理人员关闭。请开始新的对话。',
  closed_by_tool: '本次对话已结束。您可以开始新的对话。',
  key_revoked: '该助手已不再在此网站上提供。',
  upstream_ended: '语音服务已结束本次对话。请开始新的对话。',
  create_failed: '无法打开此对话。请开始新的对话。',
  abandoned: '本次对话因长时间无人说话而结束。请开始新的对话。',
};
