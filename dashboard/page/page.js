/** The page: follows the address, keeps what the server sends, and shows it. */
import { element } from './dom.js';
import { age } from './format.js';
import { nodePage } from './node.js';
import { nodesPage } from './nodes.js';
import { prioritiesPage } from './priorities.js';
import { openStream, saveToken, takeToken } from './stream.js';
import { timelinePage } from './timeline.js';

const SILENT_MS = 12_000;
const content = document.getElementById('content');
const freshness = document.getElementById('freshness');

const known = { nodes: new Map(), timeline: [], classes: [], quotas: [], node: undefined, isLimited: false };
let page;
let stream;
let heardAt;

function pageFor(hash) {
  const [name = 'nodes', item] = hash.replace(/^#\/?/, '').split('/');
  if (name === 'nodes' && item !== undefined && item !== '') return { ...nodePage(decoded(item)), node: decoded(item) };
  if (name === 'timeline') return timelinePage();
  return name === 'priorities' ? prioritiesPage() : nodesPage();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function show() {
  if (location.hash === '#content') return;
  page = pageFor(location.hash);
  document.title = `${page.title} · Plimsoll`;
  for (const each of document.querySelectorAll('nav a')) {
    const isHere = (location.hash || '#/nodes').startsWith(each.getAttribute('href'));
    if (isHere) each.setAttribute('aria-current', 'page');
    else each.removeAttribute('aria-current');
  }
  const heading = page.node === undefined ? [element('h1', 'unseen', page.title)] : [];
  content.replaceChildren(...heading, page.element);
  connect();
}

function connect() {
  stream?.stop();
  known.nodes.clear();
  const query = page.node === undefined ? '' : `?node=${encodeURIComponent(page.node)}`;
  let isFirst = true;
  stream = openStream(`/api/live${query}`, {
    onOpen: () => (isFirst = true),
    onUpdate(update) {
      heardAt = Date.now();
      take(update, isFirst);
      isFirst = false;
    },
    onLost: () => tellFreshness('lost', 'connection lost, trying again…'),
    onRefused: (status, message) => content.replaceChildren(signIn(status, message)),
  });
}

function take(update, isFirst) {
  if (isFirst) known.nodes.clear();
  for (const node of update.nodes) known.nodes.set(node.name, node);
  for (const name of update.gone) known.nodes.delete(name);
  for (const section of ['timeline', 'classes', 'quotas']) known[section] = update[section] ?? known[section];
  const changed = isFirst ? 'all' : update.nodes;
  page.render({ ...known, node: update.node, history: update.history, changed, now: update.at });
  tellFreshness('live', update.isLimited ? 'live · your namespaces' : 'live');
}

function tellFreshness(state, text) {
  if (freshness.dataset.state === state && freshness.lastChild.textContent === text) return;
  freshness.dataset.state = state;
  freshness.replaceChildren(freshness.firstElementChild, text);
  content.classList.toggle('stale', state === 'lost');
}

setInterval(() => {
  if (heardAt !== undefined && Date.now() - heardAt > SILENT_MS)
    tellFreshness('lost', `last update ${age(heardAt, Date.now())}`);
}, 1000);

function signIn(status, message) {
  const field = element('input', '');
  field.type = 'password';
  field.id = 'token';
  field.autocomplete = 'off';
  field.required = true;
  const label = element('label', '', 'Token');
  label.htmlFor = 'token';
  const form = element('form', 'sign-in', label, field, element('button', '', 'Show the dashboard'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    saveToken(field.value.trim());
    show();
  });
  tellFreshness('lost', status === 401 ? 'not signed in' : 'not allowed');
  const hint = element('p', 'quiet', 'The token stays in this tab. Create one with ');
  hint.append(element('code', '', 'kubectl create token NAME --namespace NAMESPACE'), '.');
  const title = status === 401 ? 'Sign in' : 'Access denied';
  return element('section', 'panel narrow', element('h1', '', title), element('p', '', message), form, hint);
}

addEventListener('hashchange', show);
takeToken();
show();
