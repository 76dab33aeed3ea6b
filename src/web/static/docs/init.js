const page = document.documentElement;
const reference = document.getElementById('reference');

// Its own switch is in a bar that this page does without.
const dark = matchMedia('(prefers-color-scheme: dark)');
function dress() {
  page.classList.toggle('dark-mode', dark.matches);
}
dark.addEventListener('change', dress);
dress();

/** What swagger-ui leaves without a name, or names wrongly: selector, attribute, and its value; null takes it away. */
const mends = [
  ['#servers', 'aria-label', 'Server'],
  ['textarea.body-param__text', 'aria-label', 'Request body'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.close-modal', 'aria-label', 'Close'],
  ['.modal-ux', 'role', 'dialog'],
  ['.modal-ux', 'aria-label', 'Credentials'],
  ['.btn.authorize[aria-label]', 'aria-label', null],
  // Its headlines skip levels.
  ['h3.opblock-tag, .models > h4, .modal-ux-header h3', 'aria-level', '2'],
  ['.opblock-body h4, .modal-ux-content h4', 'aria-level', '3'],
  ['.opblock-body h5, .modal-ux-content h5, .modal-ux-content h6', 'aria-level', '4'],
  // Parts beside its main part.
  ['.information-container', 'role', 'region'],
  ['.information-container', 'aria-label', 'About'],
  ['.schemes-server-container', 'role', 'region'],
  ['.schemes-server-container', 'aria-label', 'Server and credentials'],
  // What scrolls must be within the keyboard's reach.
  ['pre.microlight', 'tabindex', '0'],
  // A link in a button; the button does the same.
  ['.opblock-summary-control a[href]', 'href', null],
];

function mend() {
  for (const [selector, name, value] of mends)
    for (const element of reference.querySelectorAll(selector)) {
      if (element.getAttribute(name) === value) continue;
      if (value === null) element.removeAttribute(name);
      else element.setAttribute(name, value);
    }
}
new MutationObserver(mend).observe(reference, { attributes: true, childList: true, subtree: true });

// Without a validator badge: the page makes no request to anybody else.
SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });
