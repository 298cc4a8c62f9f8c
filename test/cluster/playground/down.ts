import { endRun } from '#test/cluster/support/run/end-run.ts';
import { isRunning, type ProcessIdentity } from '#test/cluster/support/run/process-identity.ts';
import type { Run } from '#test/cluster/support/run/run-folder.ts';
import { leavePlace } from '#test/cluster/support/run/sole-holder.ts';
import { playgroundPlace, playgrounds } from './playgrounds.ts';

/** A playground may just be starting, and ends after that. */
const ENDS_WITHIN_MS = 300_000;

/** Ends the playground and whatever is left of it. Rejects when something does not go. */
export async function down(): Promise<string> {
  const present = playgrounds();
  for (const run of present) await end(run);
  leavePlace(playgroundPlace());
  return present.length === 0 ? 'not up: there is nothing to end' : 'ended; nothing is left of it';
}

async function end({ owner, folder }: Run): Promise<void> {
  if (isRunning(owner)) process.kill(owner.pid, 'SIGTERM');
  await hasEnded(owner);
  await endRun(folder);
}

async function hasEnded(owner: ProcessIdentity): Promise<void> {
  const until = performance.now() + ENDS_WITHIN_MS;
  while (isRunning(owner)) {
    if (performance.now() > until) throw new Error(`cannot end process ${owner.pid}: it does not go`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
