import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'لا يوجد اتصال. يُرجى التحقق من الشبكة.',
  MICROPHONE_BLOCKED: 'يُرجى السماح لهذه الصفحة باستخدام الميكروفون.',
  MICROPHONE_MISSING: 'يُرجى توصيل ميكروفون أو إغلاق البرنامج الذي يستخدمه.',
  MICROPHONE_INSECURE: 'لا يمكن لهذه الصفحة استخدام الميكروفون لأنها غير آمنة.',
  MICROPHONE_LOST: 'الميكروفون متوقف.',
  SIMULATED_PROVIDER: 'الخدمة الصوتية هنا محاكاة فقط.',
  PROVIDER_UNSUPPORTED: 'لم تقبل الخدمة الصوتية المكالمة.',
  PROVIDER_REFUSED: 'لم تقبل الخدمة الصوتية المكالمة.',
  CALL_LOST: 'انقطعت المكالمة.',
  TOOL_FAILED: 'لم ينجح ذلك.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'تم بلوغ الحد اليومي. يُرجى العودة غدًا.';

export const budgets: BudgetWords = {
  session: 'بلغت هذه المحادثة حدّها. يُرجى بدء محادثة جديدة.',
  day: NO_MORE_TODAY,
  week: 'تم بلوغ حد هذا الأسبوع. يُرجى العودة في الأسبوع المقبل.',
  month: 'تم بلوغ حد هذا الشهر. يُرجى العودة في الشهر المقبل.',
  once: 'تم بلوغ الحد. يُرجى التواصل مع المسؤولين عن الموقع.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'هذا المساعد في استراحة. يُرجى العودة لاحقًا.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'هناك خطأ في هذا الطلب. يُرجى التحقق منه والمحاولة مرة أخرى.',
  NOT_FOUND: 'لا يوجد شيء هنا.',
  METHOD_NOT_ALLOWED: 'هذا غير ممكن هنا.',
  AMBIGUOUS: 'هناك أكثر من نتيجة مطابقة. يُرجى كتابة الاسم كاملًا.',
  COUNT_CHANGED: 'سيشمل هذا الآن عناصر أكثر من ذي قبل. يُرجى التحقق مجددًا.',
  CONFLICT: 'يتعارض هذا مع ما هو موجود بالفعل. يُرجى تغييره والمحاولة مرة أخرى.',
  PAYLOAD_TOO_LARGE: 'هذا المحتوى أكبر من أن يُرسل.',
  UNSUPPORTED_MEDIA_TYPE: 'هذا النوع من المحتوى غير مدعوم.',
  IDEMPOTENCY_MISMATCH: 'سبق إرسال هذا الطلب بمحتوى آخر.',
  QUERY_TOO_BROAD: 'هناك نتائج كثيرة لا يمكن عرضها دفعة واحدة. يُرجى تضييق البحث.',
  AUTH_REQUIRED: 'يُرجى تسجيل الدخول للمتابعة.',
  INVALID_OTP: 'هذا الرمز غير صحيح أو انتهت صلاحيته. يُرجى طلب رمز جديد.',
  INVALID_WIDGET_KEY: 'لم يتم إعداد هذا المساعد بشكل صحيح. يُرجى التواصل مع المسؤولين عن الموقع.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'تعذّر التحقق من المتصفح. يُرجى تحديث الصفحة والمحاولة مرة أخرى.',
  FORBIDDEN: 'ليست لديك صلاحية القيام بذلك.',
  ORIGIN_MISMATCH: 'هذا المساعد غير متاح على هذا الموقع.',
  SESSION_DURATION_EXCEEDED: 'انتهت هذه المحادثة. يُرجى بدء محادثة جديدة.',
  SESSION_NOT_FOUND: 'لم يتم العثور على هذه المحادثة. يُرجى بدء محادثة جديدة.',
  RESUME_REFUSED: 'لا يمكن متابعة هذه المحادثة. يُرجى بدء محادثة جديدة.',
  USAGE_IMPLAUSIBLE: 'لم يُقبل تقرير الاستخدام هذا.',
  CALL_IN_PROGRESS: 'يجري توصيل المحادثة بالفعل. يُرجى الانتظار لحظة.',
  CALL_NOT_OPEN: 'المحادثة غير متصلة في الوقت الحالي. يُرجى المحاولة مرة أخرى.',
  TOOL_UNKNOWN: 'وصلت هذه الإجابة متأخرة ولم تُستخدم.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'هناك محادثات مفتوحة أكثر من اللازم. يُرجى إغلاق إحداها والمحاولة مرة أخرى.',
  RATE_LIMIT_EXCEEDED: 'الطلبات كثيرة جدًا. يُرجى الانتظار لحظة والمحاولة مرة أخرى.',
  INTERNAL_ERROR: 'حدث خطأ من جانبنا. يُرجى المحاولة مرة أخرى.',
  UPSTREAM_ERROR: 'الخدمة الصوتية غير متاحة حاليًا. يُرجى المحاولة مرة أخرى.',
  SERVICE_UNAVAILABLE: 'الخدمة مشغولة حاليًا. يُرجى المحاولة مرة أخرى بعد قليل.',
  UPSTREAM_TIMEOUT: 'لم تستجب الخدمة الصوتية في الوقت المناسب. يُرجى المحاولة مرة أخرى.',
};

export const ends: EndWords = {
  duration_exceeded: 'بلغت هذه المحادثة مدتها القصوى. يُرجى بدء محادثة جديدة.',
  idle_exceeded: 'انتهت هذه المحادثة بعد صمت طويل. يُرجى بدء محادثة جديدة.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'تم بلوغ الحد وانتهت هذه المحادثة. يُرجى المحاولة لاحقًا.',
  closed_by_client: 'أُغلقت هذه المحادثة. يُرجى بدء محادثة جديدة.',
  closed_by_operator: 'أغلق أحد المشرفين هذه المحادثة. يُرجى بدء محادثة جديدة.',
  closed_by_tool: 'انتهت هذه المحادثة. يمكنك بدء محادثة جديدة.',
  key_revoked: 'لم يعد هذا المساعد متاحًا على هذا الموقع.',
  upstream_ended: 'أنهت الخدمة الصوتية هذه المحادثة. يُرجى بدء محادثة جديدة.',
  create_failed: 'تعذّر فتح هذه المحادثة. يُرجى بدء محادثة جديدة.',
  abandoned: 'انتهت هذه المحادثة بعد صمت طويل. يُرجى بدء محادثة جديدة.',
};
