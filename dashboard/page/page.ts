/** The page: follows the address, keeps the data from the server, and shows it. */
import { html, nothing, render } from 'lit-html';
import type { Context, Page, PageOptions, Received, Sections } from './context.ts';
import type { NodeSummary } from '#dashboard/views/view.ts';
import { duration } from './format.ts';
import { namespacePage, namespacesPage } from './namespaces.ts';
import { nodePage } from './node.ts';
import { nodePoliciesPage } from './node-policies.ts';
import { loadPage } from './load.ts';
import { nodesPage } from './nodes.ts';
import { empty, panel } from './parts.ts';
import { podPage } from './pod.ts';
import { preemptionsPage } from './preemptions.ts';
import { prioritiesPage } from './priorities.ts';
import { queuesPage } from './queues.ts';
import { searchPods } from './search.ts';
import { signIn } from './sign-in.ts';
import { openStream, saveToken, type Stream, takeToken } from './stream.ts';
import { timelinePage } from './timeline.ts';
import { whatIfPage } from './what-if.ts';

/** The server sends an update every five seconds; older data is marked. */
const SILENT_MS = 8_000;
const TICK_MS = 1_000;
const NO_DATA: Sections = {
  timeline: [],
  nodeTimeline: [],
  classes: [],
  quotas: [],
  queues: [],
  preemptions: [],
  policies: [],
  nodePolicies: [],
};
/** By address. */
const PAGES: ReadonlyMap<string, (options: PageOptions) => Page> = new Map([
  ['', nodesPage],
  ['nodes', nodesPage],
  ['nodes/*', nodePage],
  ['load', loadPage],
  ['queues', queuesPage],
  ['timeline', timelinePage],
  ['preemptions', preemptionsPage],
  ['priorities', prioritiesPage],
  ['namespaces', namespacesPage],
  ['namespaces/*', namespacePage],
  ['pods/*/*', podPage],
  ['policies', nodePoliciesPage],
  ['what-if', whatIfPage],
]);

/** An address that leads nowhere, as in an old bookmark. */
function unknownPage(): Page {
  const text = `There is no page ${location.hash}: the address may be of an older version.`;
  return {
    title: 'Page not found',
    render: () =>
      html`<div class="stack">
        ${panel('Page not found', empty(text))}
        <p><a href="#/nodes">All nodes</a></p>
      </div>`,
  };
}

const content = elementOf('content');
const freshness = elementOf('freshness');
/** Separate from the status, so that a screen reader does not read out every passing second. */
const dataAge = elementOf('data-age');

const nodes = new Map<string, NodeSummary>();
let sections = NO_DATA;
let cluster = '';
let isLimited = false;
let page: Page | undefined;
let path: string | undefined;
let stream: Stream | undefined;
/** The server's time of the last update, and when it arrived by the monotonic clock of the page. */
let received: { readonly at: number; readonly by: number } | undefined;
let isLost = false;
let refusal: { readonly status: number; readonly message: string } | undefined;
let isDrawing = false;

/** An element of index.html. */
function elementOf(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`cannot find element ${id}`);
  return found;
}

/** `#/nodes/NAME?text=web` split into its path and its parameters. */
function address(): { readonly path: string; readonly params: URLSearchParams } {
  const [where = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: where, params: new URLSearchParams(query) };
}

function pageFor(where: string): Page {
  const [name = '', ...items] = where.split('/').filter((part, index) => index === 0 || part !== '');
  const of = { name: items.map(decoded).join('/'), redraw };
  const open = PAGES.get([name, ...items.map(() => '*')].join('/')) ?? unknownPage;
  return open(of);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Changes parameters of the address without leaving the page; an empty value removes the parameter. */
function setParams(changes: Readonly<Record<string, string>>): void {
  const { path: where, params } = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString();
  history.replaceState(null, '', `#/${where}${query === '' ? '' : `?${query}`}`);
  draw();
}

function follow(): void {
  if (location.hash === '#content') return;
  const { path: where } = address();
  if (where === path && refusal === undefined) {
    draw();
    return;
  }
  const isFirst = path === undefined;
  path = where;
  page?.close?.();
  page = pageFor(where);
  refusal = undefined;
  markInNavigation(where);
  render(nothing, content);
  connect(page);
  draw();
  if (!isFirst) content.focus();
}

function markInNavigation(where: string): void {
  for (const each of document.querySelectorAll('nav a')) {
    const isHere = `#/${where || 'nodes'}`.startsWith(each.getAttribute('href') ?? '');
    if (isHere) each.setAttribute('aria-current', 'page');
    else each.removeAttribute('aria-current');
  }
}

function connect({ node }: Page): void {
  stream?.stop();
  const query = node === undefined ? '' : `?node=${encodeURIComponent(node)}`;
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

function take(update: Received, isFirst: boolean): void {
  const start = performance.now();
  received = { at: update.at, by: start };
  isLost = false;
  if (isFirst) nodes.clear();
  for (const node of update.nodes) nodes.set(node.name, node);
  for (const name of update.gone) nodes.delete(name);
  sections = { ...sections, ...update };
  isLimited = update.isLimited;
  cluster = update.cluster ?? cluster;
  page?.take?.(update, isFirst);
  draw();
  performance.measure('plimsoll:update', { start, end: performance.now() });
}

/** Draws several changes at once. */
function redraw(): void {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    draw();
  });
}

function draw(): void {
  if (page === undefined) return;
  if (refusal !== undefined) {
    drawRefusal(refusal);
    return;
  }
  tellFreshness();
  document.title = [page.title, cluster, 'Plimsoll'].filter((part) => part !== '').join(' · ');
  elementOf('cluster').textContent = cluster;
  if (received === undefined) return;
  const now = received.at + performance.now() - received.by;
  const heading = page.hasHeading === true ? nothing : html`<h1 class="unseen">${page.title}</h1>`;
  const context: Context = { ...sections, nodes, now, params: address().params, setParams };
  const shown = page.render(context);
  render(html`${heading}${shown}`, content);
  page.drawn?.();
}

function drawRefusal({ status, message }: NonNullable<typeof refusal>): void {
  const enter = (token: string): void => {
    saveToken(token);
    follow();
  };
  showFreshness('lost', status === 401 ? 'not signed in' : 'not allowed');
  render(signIn(status, message, enter), content);
}

function tellFreshness(): void {
  const silent = received === undefined ? 0 : performance.now() - received.by;
  dataAge.textContent = received !== undefined && (isLost || silent > SILENT_MS) ? `${duration(silent)} old` : '';
  if (isLost) showFreshness('lost', 'connection lost, trying again…');
  else if (silent > SILENT_MS) showFreshness('lost', 'no update: data is old');
  else if (received !== undefined) showFreshness('live', isLimited ? 'live · your namespaces' : 'live');
}

function showFreshness(state: 'live' | 'lost', text: string): void {
  content.classList.toggle('stale', state === 'lost');
  if (freshness.dataset['state'] === state && freshness.lastChild?.textContent === text) return;
  freshness.dataset['state'] = state;
  freshness.replaceChildren(freshness.firstElementChild ?? '', text);
}

addEventListener('hashchange', follow);
takeToken();
searchPods(elementOf('search') as HTMLFormElement, elementOf('wanted') as HTMLInputElement, elementOf('found'));
follow();
// Ages and the time since the last update are shown even if no update arrives.
setInterval(() => {
  if (refusal === undefined) draw();
}, TICK_MS);
