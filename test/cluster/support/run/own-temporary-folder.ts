import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { processesWith } from './run-processes.ts';

/** A temporary folder, and the processes that were started while it was the usual one. */
export interface OwnTemporaryFolder {
  processes(): readonly number[];
}

/** Gives the tests of a file a temporary folder to themselves, so that other runs on the machine neither see nor sweep theirs. */
export function ownTemporaryFolder(): OwnTemporaryFolder {
  const before = process.env['TMPDIR'];
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'plz-'));
    process.env['TMPDIR'] = folder;
  });
  afterAll(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  });
  return { processes: () => processesWith(`TMPDIR=${folder}`) };
}
