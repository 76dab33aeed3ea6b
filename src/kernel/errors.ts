interface CodeMeaning {
  readonly status: number;
  /** What an end user reads. */
  readonly userMessage: string;
}

/** Every code that a client can receive (specification section 7, contract section 2). */
export const codes = {
  INVALID_REQUEST: {
    status: 400,
    userMessage: 'Something in this request is not right. Please check it and try again.',
  },
  AUTH_REQUIRED: { status: 401, userMessage: 'Please log in to continue.' },
  INVALID_OTP: { status: 401, userMessage: 'This code is wrong or has expired. Please request a new code.' },
  INVALID_WIDGET_KEY: {
    status: 401,
    userMessage: 'This assistant is not set up correctly. Please contact the website.',
  },
  FORBIDDEN: { status: 403, userMessage: 'You are not allowed to do this.' },
  BOT_BLOCKED: { status: 403, userMessage: 'We could not verify your browser. Please refresh the page and try again.' },
  ORIGIN_MISMATCH: { status: 403, userMessage: 'This assistant is not available on this website.' },
  SESSION_DURATION_EXCEEDED: { status: 403, userMessage: 'This conversation has ended. Please start a new one.' },
  NOT_FOUND: { status: 404, userMessage: 'There is nothing here.' },
  SESSION_NOT_FOUND: { status: 404, userMessage: 'This conversation was not found. Please start a new one.' },
  METHOD_NOT_ALLOWED: { status: 405, userMessage: 'This is not possible here.' },
  AMBIGUOUS: { status: 409, userMessage: 'This fits more than one. Please name it in full.' },
  PAYLOAD_TOO_LARGE: { status: 413, userMessage: 'This is too large to send.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, userMessage: 'This kind of content is not supported.' },
  USAGE_IMPLAUSIBLE: { status: 422, userMessage: 'This usage report was not accepted.' },
  IDEMPOTENCY_MISMATCH: { status: 422, userMessage: 'This request was already made with other content.' },
  RATE_LIMIT_EXCEEDED: { status: 429, userMessage: 'Too many requests. Please wait a moment and try again.' },
  MAX_CONCURRENT_SESSIONS: {
    status: 429,
    userMessage: 'Too many conversations are open. Please close one and try again.',
  },
  DAILY_QUOTA_EXCEEDED: { status: 429, userMessage: "Today's limit is reached. Please come back tomorrow." },
  INTERNAL_ERROR: { status: 500, userMessage: 'Something went wrong on our side. Please try again.' },
  UPSTREAM_ERROR: { status: 502, userMessage: 'The voice service is not available right now. Please try again.' },
  SERVICE_UNAVAILABLE: { status: 503, userMessage: 'The service is busy right now. Please try again in a moment.' },
  UPSTREAM_TIMEOUT: { status: 504, userMessage: 'The voice service did not answer in time. Please try again.' },
} as const satisfies Record<string, CodeMeaning>;

export type Code = keyof typeof codes;

/** Fields that some codes add to the error body. */
export interface RefusalAdditions {
  readonly userMessage?: string;
  /** Seconds; also sent as the Retry-After header. */
  readonly retryAfter?: number;
  readonly reason?: string;
  readonly maxMinutes?: number;
  /** The request did its work all the same: repeating it would do it twice. */
  readonly counted?: true;
  /** What a report was counted to (specification section 2.6). */
  readonly usage?: {
    readonly tokens: number;
    readonly dollars: number;
    readonly dailyTokenLimit: number;
    readonly dailyDollarLimit: number;
    /** ISO 8601 */
    readonly resetAt: string;
  };
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** An expected "no": returned, never thrown. `error` speaks to a developer and says what to do. */
export class Refusal {
  readonly code: Code;
  readonly error: string;
  readonly additions: RefusalAdditions;

  constructor(code: Code, error: string, additions: RefusalAdditions = {}) {
    this.code = code;
    this.error = error;
    this.additions = additions;
  }

  get status(): number {
    return codes[this.code].status;
  }

  get userMessage(): string {
    return this.additions.userMessage ?? codes[this.code].userMessage;
  }
}

export type Dependency = 'database' | 'registry' | 'mail' | 'provider' | 'bots';

/** Thrown when a dependency is away or frozen; callers get 503 with Retry-After (architecture section 5). */
export class Unavailable extends Error {
  readonly dependency: Dependency;

  constructor(dependency: Dependency, cause?: unknown) {
    super(`${dependency} is not available`, { cause });
    this.name = 'Unavailable';
    this.dependency = dependency;
  }
}

/** For a `catch` where a dependency that is away changes nothing for the caller. @throws every other fault, as it is */
export function throwUnlessUnavailable(fault: unknown): void {
  if (!(fault instanceof Unavailable)) throw fault;
}
