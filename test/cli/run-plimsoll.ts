import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real process; `input` is its standard input. */
export async function runPlimsoll(args: readonly string[], input = '', directory = ROOT): Promise<Run> {
  const child = spawn(process.execPath, [inject('plimsoll'), ...args], {
    cwd: directory,
    env: { ...process.env, COLUMNS: '80' },
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  // A process that ends before it has read everything is judged by what it says.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

const folders: string[] = [];

/** Called after the tests of each file (remove-folders.ts). */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

/** A new directory with these files, by name; gone after the tests of the file. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cli-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

interface Row {
  readonly object: string;
  readonly allowed: boolean;
}

/** What `plimsoll review` says to each object. */
export async function verdicts(args: readonly string[], input = ''): Promise<Readonly<Record<string, boolean>>> {
  const { stdout } = await runPlimsoll(['review', '-o', 'json', ...args], input);
  return Object.fromEntries((itemsIn(stdout) as readonly Row[]).map(({ object, allowed }) => [object, allowed]));
}

/** The items of a list that a command printed with `-o json`. */
export function itemsIn(stdout: string): readonly unknown[] {
  return (JSON.parse(stdout) as { readonly items: readonly unknown[] }).items;
}
