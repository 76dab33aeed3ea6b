import '../shared/tokens.css';
import '../shared/frame.css';
import './docs.css';
import { startCopying } from '../shared/copy.ts';
import { startFilter } from './filter.ts';
import { keepLanguage } from './language.ts';
import { followPlace } from './place.ts';
import { startTrying } from './try.ts';

startCopying();
startTrying();
keepLanguage();
startFilter();
followPlace();
