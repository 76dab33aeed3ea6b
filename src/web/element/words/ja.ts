import { own } from '../../../protocol/languages/ja.ts';
import type { Words } from './words.ts';

export const words: Words = {
  title: '音声アシスタント',
  launcher: '音声で相談する',
  open: '会話を開く',
  close: '閉じる',
  start: '会話を始める',
  agree: '同意して始める',
  again: '新しい会話を始める',
  tryAgain: 'もう一度試す',
  end: '終了',
  cancel: 'キャンセル',
  mute: 'ミュート',
  unmute: 'ミュート解除',
  captions: '字幕',
  microphone: 'マイク',
  write: 'メッセージを入力',
  send: '送信',
  visitor: 'あなた',
  agent: 'アシスタント',
  status: {
    ready: 'どのようなご用件ですか？',
    connecting: '接続しています',
    listening: 'お話しください',
    speaking: 'アシスタントが話しています',
    muted: 'ミュート中です',
    reconnecting: '再接続しています',
    idle: 'まだいらっしゃいますか？',
    over: '会話は終了しました',
    failed: 'うまくいきませんでした',
  },
  hint: {
    ready: '電話のように、そのままお話しください。',
    connecting: 'ブラウザーに確認されたら、マイクの使用を許可してください。',
    muted: 'お客様の声はアシスタントに届いていません。',
    idle: '続けるには何かお話しください。',
  },
  warning: {
    duration: 'この会話は{time}に終了します。',
    idle: 'お話がないため、この会話は{time}に終了します。',
    quota: 'まもなく本日の利用上限に達します。',
    soon: 'この会話はまもなく終了します。',
  },
  retry: '{time}にもう一度お試しいただけます。',
  ends: {},
  errors: {
    ...own,
    MICROPHONE_BLOCKED:
      'マイクがブロックされています。ブラウザーのアドレスバー横の設定で許可してから、もう一度お試しください。',
  },
};
