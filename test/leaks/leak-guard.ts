import { afterAll, afterEach } from 'vitest';
import { jitterSeed } from '#test/fakes/jitter.ts';
import { leakedSince, openResources, ownTemporaryFolder } from './open-resources.ts';
import { eventually } from '#test/build/waiting.ts';

/** Sockets need some turns of the event loop to close after their last answer. */
const PATIENCE_MS = 3_000;

const before = openResources();
const folder = ownTemporaryFolder();

function expectNoLeaks(): void {
  const files = folder.left().map((name) => `temporary file ${name}`);
  const found = [...leakedSince(before, openResources()), ...files];
  if (found.length > 0) throw new Error(`cannot end test file: it leaves behind ${found.join(', ')}`);
}

// Hooks after tests run in reverse order, so this one, the first, sees what all others have left.
afterAll(async () => {
  await eventually(expectNoLeaks, PATIENCE_MS).finally(() => folder.remove());
});

// What a run drew is decided by this seed, and is of no interest while everything passes.
afterEach(({ task }) => {
  const seed = jitterSeed();
  if (task.result?.state === 'fail' && seed !== undefined) console.error(`random pauses of this run: ${seed}`);
});
