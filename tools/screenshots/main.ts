/**
 * `npm run screenshots -- http://127.0.0.1:7470` makes the pictures of docs/images, in Chromium, from a sandbox that runs
 * (`npm start`) and has played its scenario to the end.
 */
import { openPages, type Pages } from '#test/dashboard/pages.ts';

interface Picture {
  readonly name: string;
  readonly hash: string;
}

const FOLDER = 'docs/images';
const PICTURES: readonly Picture[] = [
  { name: 'dashboard', hash: '#/nodes/sandbox' },
  { name: 'dashboard-queues', hash: '#/queues' },
  { name: 'dashboard-timeline', hash: '#/timeline' },
  { name: 'dashboard-priorities', hash: '#/priorities' },
  { name: 'dashboard-what-if', hash: '#/what-if?ask=pressure&node=sandbox&available=200Mi&threshold=400Mi' },
];

const [sandbox] = process.argv.slice(2);
if (sandbox === undefined) {
  console.error('usage: npm run screenshots -- ADDRESS, the address of the dashboard that npm start prints');
  process.exitCode = 2;
} else {
  const pages = await openPages();
  try {
    for (const picture of PICTURES) await take(pages, sandbox, picture);
  } finally {
    await pages.close();
  }
}

async function take(shown: Pages, url: string, { name, hash }: Picture): Promise<void> {
  const { page, end } = await shown.visit(`${url}/${hash}`);
  // Charts are drawn after the page.
  await page.waitForLoadState('networkidle', { timeout: 1_000 }).catch(() => undefined);
  const path = `${FOLDER}/${name}.png`;
  await page.screenshot({ path, fullPage: true });
  await end();
  console.log(path);
}
