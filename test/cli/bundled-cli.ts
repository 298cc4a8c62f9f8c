import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleCli } from '#tools/bundle/bundle-cli.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The command line as users install it: one file for `node`. */
    readonly plimsoll: string;
  }
}

/** One bundle for all tests: from its sources, each command also loads every model of the client library. */
export async function setup(project: Pick<TestProject, 'provide' | 'onTestsRerun'>): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bundle-'));
  const file = join(folder, 'plimsoll.cjs');
  await bundleCli(file);
  project.onTestsRerun(async () => {
    await bundleCli(file);
  });
  project.provide('plimsoll', file);
  return () => rmSync(folder, { recursive: true });
}
