/** Server tool calls that a session may make in all, where its agent does not say. */
export const TOOL_CALLS_PER_SESSION = 50;
/** The longest reply that a model is told, in bytes. */
export const MAX_REPLY_BYTES = 16 * 1024;
/** More than the arguments of any tool need. */
export const MAX_ARGUMENTS_BYTES = 64 * 1024;
