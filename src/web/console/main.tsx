import '../shared/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/dialogs.css';
import './styles/session-list.css';
import './styles/session.css';
import './styles/verdict.css';
import './styles/counts.css';
import './styles/statuses.css';
import './styles/forms.css';
import './styles/table.css';
import './styles/login.css';
import './styles/touch.css';
import './styles/print.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { watchHistory } from './data/places.ts';

watchHistory();

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
