import '../shared/tokens.css';
import '../shared/frame.css';
import './home.css';
import { startCopying } from '../shared/copy.ts';

startCopying();
