import { endRun } from '#test/cluster/support/run/end-run.ts';
import { isRunning } from '#test/cluster/support/run/process-identity.ts';
import type { Run } from '#test/cluster/support/run/run-folder.ts';
import { leavePlace } from '#test/cluster/support/run/sole-holder.ts';
import { playgroundPlace, playgrounds } from './playgrounds.ts';
import { eventually } from '#test/build/waiting.ts';

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
  await eventually(() => {
    if (isRunning(owner)) throw new Error(`cannot end process ${owner.pid}: it does not go`);
  }, ENDS_WITHIN_MS);
  await endRun(folder);
}
