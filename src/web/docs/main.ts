import '../shared/tokens.css';
import '../shared/frame.css';
import './docs.css';
import './guide.css';
import './print.css';
import { addCopyButtons, startCopying } from '../shared/copy.ts';
import { startField } from './field.ts';
import { followPlace } from './place.ts';
import { startTrying } from './try.ts';
import { readKept, writeKept } from '../shared/local-storage.ts';

const KEY = 'switchboard-docs-language';

/** Remembers the language that a visitor chose for the next visit. */
function keepLanguage(): void {
  const choices = document.querySelectorAll<HTMLInputElement>('input[name="language"]');
  const kept = readKept(KEY);
  for (const choice of choices) {
    if (choice.value === kept) choice.checked = true;
    choice.addEventListener('change', () => writeKept(KEY, choice.value));
  }
}

startCopying();
addCopyButtons(document);
startTrying();
keepLanguage();
startField();
followPlace();
