/**
 * `npm run screenshots` makes the pictures of docs/images from the page itself, in Chromium, with a generated cluster.
 * `npm run screenshots -- http://127.0.0.1:7470` makes the picture of the README from a running sandbox (`npm start`).
 */
import { generateCluster } from '#test/dashboard/generated-cluster.ts';
import { openPages, type Pages, type Screen } from '#test/dashboard/pages.ts';

interface Picture {
  readonly name: string;
  readonly hash: string;
  readonly screen?: Screen;
}

const NODES = 40;
const NARROW = 400;
const FOLDER = 'docs/images';
const PICTURES: readonly Picture[] = [
  { name: 'nodes', hash: '#/nodes' },
  { name: 'node', hash: '#/nodes/node-002' },
  { name: 'queues', hash: '#/queues' },
  { name: 'timeline', hash: '#/timeline' },
  { name: 'preemptions', hash: '#/preemptions' },
  { name: 'priorities', hash: '#/priorities' },
  { name: 'namespace', hash: '#/namespaces/team-1' },
  { name: 'policies', hash: '#/policies' },
  { name: 'what-if', hash: '#/what-if?ask=pressure&node=node-009&available=400Mi&threshold=1Gi' },
  {
    name: 'what-if-dark',
    hash: '#/what-if?ask=pod&node=node-009&cpu=600m&memory=1Gi&priorityClass=critical',
    screen: { colorScheme: 'dark' },
  },
  { name: 'policies-narrow', hash: '#/policies', screen: { width: NARROW } },
  { name: 'node-dark', hash: '#/nodes/node-002', screen: { colorScheme: 'dark' } },
  { name: 'queues-dark', hash: '#/queues', screen: { colorScheme: 'dark' } },
  { name: 'nodes-narrow', hash: '#/nodes', screen: { width: NARROW } },
  { name: 'queues-narrow', hash: '#/queues', screen: { width: NARROW } },
];

const [sandbox] = process.argv.slice(2);
const pages = await openPages();
try {
  if (sandbox === undefined) await takeAll(pages);
  else await take(pages, sandbox, { name: '', hash: '#/nodes/sandbox' });
} finally {
  await pages.close();
}

async function takeAll(shown: Pages): Promise<void> {
  const url = await shown.serve(generateCluster(NODES, Date.now()).sources);
  for (const picture of PICTURES) await take(shown, url, picture);
}

async function take(shown: Pages, url: string, { name, hash, screen = {} }: Picture): Promise<void> {
  const { page, end } = await shown.visit(`${url}/${hash}`, screen);
  // Charts are drawn after the page.
  await page.waitForLoadState('networkidle', { timeout: 1_000 }).catch(() => undefined);
  const path = `${FOLDER}/${['dashboard', name].filter(Boolean).join('-')}.png`;
  await page.screenshot({ path, fullPage: screen.width === undefined });
  await end();
  console.log(path);
}
