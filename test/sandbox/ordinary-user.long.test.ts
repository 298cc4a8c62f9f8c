import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 120_000;
/** The user nobody; a test run that is not root is an ordinary user already. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const SOURCES = ['agent', 'dashboard', 'deploy', 'sandbox', 'scheduler', 'shared', 'webhook', 'package.json'];

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Links where it can, since copies take seconds; the files stay readable by all. */
function copyTree(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (spawnSync('cp', ['-al', from, to]).status !== 0) cpSync(from, to, { recursive: true });
}

/** A home that only its user can read, with the product in a path that has spaces, and a Node of its own. */
function privateHome(): { readonly home: string; readonly checkout: string; readonly node: string } {
  const home = mkdtempSync(join(tmpdir(), 'plimsoll home of Zoë '));
  folders.push(home);
  const checkout = join(home, 'my projects', 'plimsoll');
  for (const name of SOURCES) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  copyTree(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const node = join(home, 'node');
  copyTree(process.execPath, node);
  mkdirSync(join(home, 'tmp'));
  for (const folder of [home, join(home, 'tmp'), checkout]) {
    if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
    chmodSync(folder, 0o700);
  }
  return { home, checkout, node };
}

describe('npm start', () => {
  test.skipIf(process.platform === 'win32')(
    'runs for an ordinary user, from a path with spaces in a home that others cannot read',
    { timeout: TIMEOUT_MS },
    async () => {
      const { home, checkout, node } = privateHome();
      const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: join(home, 'tmp') };
      const child = spawn(node, ['sandbox/main.ts', '--once'], { cwd: checkout, env, ...USER });
      const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
      const [code, errors] = await Promise.all([closed, text(child.stderr), text(child.stdout)]);
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(readdirSync(join(home, 'tmp'))).toEqual([]);
    },
  );
});
