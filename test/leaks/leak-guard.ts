import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach } from 'vitest';
import { jitterSeed } from '#test/fakes/jitter.ts';
import { leakedSince, openResources, ownTemporaryFolder } from './open-resources.ts';

/** Sockets need some turns of the event loop to close after their last answer. */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 20;

const before = openResources();
const folder = ownTemporaryFolder();

async function leaks(): Promise<readonly string[]> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const files = folder.left().map((name) => `temporary file ${name}`);
    const found = [...leakedSince(before, openResources()), ...files];
    if (found.length === 0 || performance.now() > until) return found;
    await delay(LOOK_EVERY_MS);
  }
}

// Hooks after tests run in reverse order, so this one, the first, sees what all others have left.
afterAll(async () => {
  const found = await leaks();
  folder.remove();
  if (found.length > 0) throw new Error(`cannot end test file: it leaves behind ${found.join(', ')}`);
});

// What a run drew is decided by this seed, and is of no interest while everything passes.
afterEach(({ task }) => {
  const seed = jitterSeed();
  if (task.result?.state === 'fail' && seed !== undefined) console.error(`random pauses of this run: ${seed}`);
});
