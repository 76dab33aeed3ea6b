import '../shared/tokens.css';
import '../shared/frame.css';
import './docs.css';
import './guide.css';
import './print.css';
import { addCopyButtons, startCopying } from '../shared/copy.ts';
import { startField } from './field.ts';
import { keepLanguage } from './language.ts';
import { followPlace } from './place.ts';
import { startTrying } from './try.ts';

startCopying();
addCopyButtons(document);
startTrying();
keepLanguage();
startField();
followPlace();
