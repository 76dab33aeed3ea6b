import type { BudgetPeriod } from '../budget.ts';
import type { InEach } from './words.ts';

/** What an end user reads where nothing is left of a budget, by when it begins anew. */
export const BUDGET_WORDS: Readonly<Record<BudgetPeriod, InEach>> = {
  session: {
    en: 'This conversation has reached its limit. Please start a new one.',
    de: 'Dieses Gespräch hat sein Limit erreicht. Bitte beginnen Sie ein neues.',
    fr: 'Cette conversation a atteint sa limite. Veuillez en démarrer une nouvelle.',
    es: 'Esta conversación ha alcanzado su límite. Inicie una nueva.',
    ja: 'この会話は利用上限に達しました。新しい会話を始めてください。',
  },
  day: {
    en: "Today's limit is reached. Please come back tomorrow.",
    de: 'Das Limit für heute ist erreicht. Bitte kommen Sie morgen wieder.',
    fr: 'La limite du jour est atteinte. Veuillez revenir demain.',
    es: 'Se ha alcanzado el límite de hoy. Vuelva mañana.',
    ja: '本日の利用上限に達しました。明日またお越しください。',
  },
  week: {
    en: "This week's limit is reached. Please come back next week.",
    de: 'Das Limit für diese Woche ist erreicht. Bitte kommen Sie nächste Woche wieder.',
    fr: 'La limite de la semaine est atteinte. Veuillez revenir la semaine prochaine.',
    es: 'Se ha alcanzado el límite de esta semana. Vuelva la próxima semana.',
    ja: '今週の利用上限に達しました。来週またお越しください。',
  },
  month: {
    en: "This month's limit is reached. Please come back next month.",
    de: 'Das Limit für diesen Monat ist erreicht. Bitte kommen Sie nächsten Monat wieder.',
    fr: 'La limite du mois est atteinte. Veuillez revenir le mois prochain.',
    es: 'Se ha alcanzado el límite de este mes. Vuelva el próximo mes.',
    ja: '今月の利用上限に達しました。来月またお越しください。',
  },
  once: {
    en: 'The limit is reached. Please contact the website.',
    de: 'Das Limit ist erreicht. Bitte wenden Sie sich an den Betreiber der Website.',
    fr: 'La limite est atteinte. Veuillez contacter les responsables du site.',
    es: 'Se ha alcanzado el límite. Póngase en contacto con el sitio web.',
    ja: '利用上限に達しました。サイトの運営者にお問い合わせください。',
  },
};
