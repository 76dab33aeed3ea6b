import type { BudgetWords, EndWords, ErrorWords, OwnWords } from './languages.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'Sem conexão. Verifique a sua rede.',
  MICROPHONE_BLOCKED: 'Permita que esta página use o microfone.',
  MICROPHONE_MISSING: 'Conecte um microfone ou feche o programa que o está usando.',
  MICROPHONE_INSECURE: 'Esta página não pode usar o microfone porque não é segura.',
  MICROPHONE_LOST: 'O microfone está desligado.',
  SIMULATED_PROVIDER: 'Aqui o serviço de voz é apenas uma simulação.',
  PROVIDER_UNSUPPORTED: 'O serviço de voz não aceitou a chamada.',
  PROVIDER_REFUSED: 'O serviço de voz não aceitou a chamada.',
  CALL_LOST: 'A chamada foi interrompida.',
  TOOL_FAILED: 'Não funcionou.',
};

/** For daily ceilings and daily budgets; budgets of other periods have their own texts. */
const NO_MORE_TODAY = 'O limite de hoje foi atingido. Volte amanhã.';

export const budgets: BudgetWords = {
  session: 'Esta conversa atingiu o limite. Inicie uma nova.',
  day: NO_MORE_TODAY,
  week: 'O limite desta semana foi atingido. Volte na próxima semana.',
  month: 'O limite deste mês foi atingido. Volte no próximo mês.',
  once: 'O limite foi atingido. Entre em contato com os responsáveis pelo site.',
};

/** The same text whether one key is paused or the whole service is stopped: visitors need not know. */
const ON_A_BREAK = 'Este assistente está em pausa. Volte mais tarde.';

export const errors: ErrorWords = {
  INVALID_REQUEST: 'Há algo errado neste pedido. Verifique-o e tente novamente.',
  NOT_FOUND: 'Não há nada aqui.',
  METHOD_NOT_ALLOWED: 'Isto não é possível aqui.',
  AMBIGUOUS: 'Há mais de um resultado. Indique o nome completo.',
  COUNT_CHANGED: 'Agora isto afetaria mais itens do que antes. Verifique novamente.',
  CONFLICT: 'Isto entra em conflito com o que já existe. Altere-o e tente novamente.',
  PAYLOAD_TOO_LARGE: 'O conteúdo é grande demais para ser enviado.',
  UNSUPPORTED_MEDIA_TYPE: 'Este tipo de conteúdo não é compatível.',
  IDEMPOTENCY_MISMATCH: 'Este pedido já foi enviado com outro conteúdo.',
  QUERY_TOO_BROAD: 'Há resultados demais para mostrar de uma só vez. Refine a busca.',
  AUTH_REQUIRED: 'Inicie a sessão para continuar.',
  INVALID_OTP: 'Este código está incorreto ou expirou. Solicite um novo código.',
  INVALID_WIDGET_KEY:
    'Este assistente não está configurado corretamente. Entre em contato com os responsáveis pelo site.',
  KEY_PAUSED: ON_A_BREAK,
  SERVICE_STOPPED: ON_A_BREAK,
  BOT_BLOCKED: 'Não foi possível verificar o seu navegador. Atualize a página e tente novamente.',
  FORBIDDEN: 'Você não tem permissão para fazer isto.',
  ORIGIN_MISMATCH: 'Este assistente não está disponível neste site.',
  SESSION_DURATION_EXCEEDED: 'Esta conversa terminou. Inicie uma nova.',
  SESSION_NOT_FOUND: 'Esta conversa não foi encontrada. Inicie uma nova.',
  RESUME_REFUSED: 'Esta conversa não pode continuar. Inicie uma nova.',
  USAGE_IMPLAUSIBLE: 'Este relatório de uso não foi aceito.',
  CALL_IN_PROGRESS: 'A conversa já está sendo conectada. Aguarde um momento.',
  CALL_NOT_OPEN: 'A conversa não está conectada no momento. Tente novamente.',
  TOOL_UNKNOWN: 'Esta resposta chegou tarde demais e não foi usada.',
  DAILY_QUOTA_EXCEEDED: NO_MORE_TODAY,
  MAX_CONCURRENT_SESSIONS: 'Há conversas abertas demais. Feche uma e tente novamente.',
  RATE_LIMIT_EXCEEDED: 'Muitos pedidos. Aguarde um momento e tente novamente.',
  INTERNAL_ERROR: 'Ocorreu um erro do nosso lado. Tente novamente.',
  UPSTREAM_ERROR: 'O serviço de voz não está disponível no momento. Tente novamente.',
  SERVICE_UNAVAILABLE: 'O serviço está ocupado no momento. Tente novamente em instantes.',
  UPSTREAM_TIMEOUT: 'O serviço de voz não respondeu a tempo. Tente novamente.',
};

export const ends: EndWords = {
  duration_exceeded: 'Esta conversa atingiu a duração máxima. Inicie uma nova.',
  idle_exceeded: 'Esta conversa ficou em silêncio por tempo demais e terminou. Inicie uma nova.',
  // The limit may be per session, day, week, month or once; the refusal of the next create says when to come back.
  quota_exceeded: 'O limite foi atingido e esta conversa terminou. Tente novamente mais tarde.',
  closed_by_client: 'Esta conversa foi encerrada. Inicie uma nova.',
  closed_by_operator: 'Esta conversa foi encerrada por um operador. Inicie uma nova.',
  closed_by_tool: 'Esta conversa terminou. Você pode iniciar uma nova.',
  key_revoked: 'Este assistente não está mais disponível neste site.',
  upstream_ended: 'O serviço de voz encerrou esta conversa. Inicie uma nova.',
  create_failed: 'Não foi possível abrir esta conversa. Inicie uma nova.',
  abandoned: 'Esta conversa ficou em silêncio por tempo demais e terminou. Inicie uma nova.',
};
