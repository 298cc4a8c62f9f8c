/** The page: follows the address, keeps the data from the server, and shows it. */
import { html, nothing, render } from './library/library.js';
import { duration } from './format.js';
import { namespacePage, namespacesPage } from './namespaces.js';
import { nodePage } from './node.js';
import { nodePoliciesPage } from './node-policies.js';
import { nodesPage } from './nodes.js';
import { preemptionsPage } from './preemptions.js';
import { prioritiesPage } from './priorities.js';
import { queuesPage } from './queues.js';
import { signIn } from './sign-in.js';
import { openStream, saveToken, takeToken } from './stream.js';
import { timelinePage } from './timeline.js';
import { whatIfPage } from './what-if.js';

/** The server sends an update every five seconds; older data is marked. */
const SILENT_MS = 8_000;
const TICK_MS = 1_000;
const SECTIONS = ['timeline', 'nodeTimeline', 'classes', 'quotas', 'queues', 'preemptions', 'policies', 'nodePolicies'];
const PAGES = {
  nodes: nodesPage,
  queues: queuesPage,
  timeline: timelinePage,
  preemptions: preemptionsPage,
  priorities: prioritiesPage,
  namespaces: namespacesPage,
  policies: nodePoliciesPage,
  'what-if': whatIfPage,
};

const content = document.getElementById('content');
const freshness = document.getElementById('freshness');
/** Separate from the status, so that a screen reader does not read out every passing second. */
const dataAge = document.getElementById('data-age');

const known = {
  ...{ nodes: new Map(), isLimited: false, cluster: '' },
  ...Object.fromEntries(SECTIONS.map((name) => [name, []])),
};
let page;
let path;
let stream;
/** The server's time of the last update, and when it arrived by the monotonic clock of the page. */
let received;
let isLost = false;
let refusal;
let isDrawing = false;

/** `#/nodes/NAME?text=web` split into its path and its parameters. */
function address() {
  const [where = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: where, params: new URLSearchParams(query) };
}

function pageFor(where) {
  const [name = '', item = ''] = where.split('/');
  const of = { name: decoded(item), redraw };
  if (name === 'nodes' && item !== '') return nodePage(of);
  if (name === 'namespaces' && item !== '') return namespacePage(of);
  return (PAGES[name] ?? nodesPage)(of);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Changes parameters of the address without leaving the page; an empty value removes the parameter. */
function setParams(changes) {
  const { path: where, params } = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString();
  history.replaceState(null, '', `#/${where}${query === '' ? '' : `?${query}`}`);
  draw();
}

function follow() {
  if (location.hash === '#content') return;
  const { path: where } = address();
  if (where === path && refusal === undefined) return draw();
  const isFirst = path === undefined;
  path = where;
  page?.close?.();
  page = pageFor(where);
  refusal = undefined;
  for (const each of document.querySelectorAll('nav a')) {
    const isHere = `#/${where || 'nodes'}`.startsWith(each.getAttribute('href'));
    if (isHere) each.setAttribute('aria-current', 'page');
    else each.removeAttribute('aria-current');
  }
  render(nothing, content);
  connect();
  draw();
  if (!isFirst) content.focus();
}

function connect() {
  stream?.stop();
  const query = page.node === undefined ? '' : `?node=${encodeURIComponent(page.node)}`;
  let isFirst = true;
  stream = openStream(`/api/live${query}`, {
    onOpen: () => (isFirst = true),
    onUpdate(update) {
      take(update, isFirst);
      isFirst = false;
    },
    onLost() {
      isLost = true;
      draw();
    },
    onRefused(status, message) {
      refusal = { status, message };
      draw();
    },
  });
}

function take(update, isFirst) {
  const start = performance.now();
  received = { at: update.at, by: start };
  isLost = false;
  if (isFirst) known.nodes.clear();
  for (const node of update.nodes) known.nodes.set(node.name, node);
  for (const name of update.gone) known.nodes.delete(name);
  for (const section of SECTIONS) known[section] = update[section] ?? known[section];
  known.isLimited = update.isLimited;
  known.cluster = update.cluster ?? known.cluster;
  page.take?.(update, isFirst);
  draw();
  performance.measure('plimsoll:update', { start, end: performance.now() });
}

/** Draws several changes at once. */
function redraw() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    draw();
  });
}

function draw() {
  if (refusal !== undefined) return drawRefusal();
  tellFreshness();
  document.title = [page.title, known.cluster, 'Plimsoll'].filter(Boolean).join(' · ');
  document.getElementById('cluster').textContent = known.cluster;
  if (received === undefined) return;
  const now = received.at + performance.now() - received.by;
  const heading = page.node === undefined ? html`<h1 class="unseen">${page.title}</h1>` : nothing;
  const shown = page.render({ ...known, now, params: address().params, setParams });
  render(html`${heading}${shown}`, content);
  page.drawn?.();
}

function drawRefusal() {
  const { status, message } = refusal;
  const enter = (token) => {
    saveToken(token);
    follow();
  };
  showFreshness('lost', status === 401 ? 'not signed in' : 'not allowed');
  render(signIn(status, message, enter), content);
}

function tellFreshness() {
  const silent = received === undefined ? 0 : performance.now() - received.by;
  dataAge.textContent = received !== undefined && (isLost || silent > SILENT_MS) ? `${duration(silent)} old` : '';
  if (isLost) return showFreshness('lost', 'connection lost, trying again…');
  if (received === undefined) return;
  if (silent > SILENT_MS) showFreshness('lost', 'no update: data is old');
  else showFreshness('live', known.isLimited ? 'live · your namespaces' : 'live');
}

function showFreshness(state, text) {
  content.classList.toggle('stale', state === 'lost');
  if (freshness.dataset.state === state && freshness.lastChild.textContent === text) return;
  freshness.dataset.state = state;
  freshness.replaceChildren(freshness.firstElementChild, text);
}

addEventListener('hashchange', follow);
takeToken();
follow();
// Ages and the time since the last update are shown even if no update arrives.
setInterval(() => refusal === undefined && draw(), TICK_MS);
