import { createLiveObjects, type LiveObjects } from '#dashboard/live-objects.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { openPages, type Pages } from './pages.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

/** A browser, and what a dashboard reads of the API server of a sandbox. */
export interface LivePages {
  readonly client: Awaited<ReturnType<typeof startTestSandbox>>['client'];
  readonly sources: LiveObjects['sources'];
  readonly pages: Pages;
  readonly stop: () => Promise<void>;
}

export async function startLivePages(clock: Clock): Promise<LivePages> {
  const ending = new AbortController();
  const [{ client, stop }, pages] = await Promise.all([startTestSandbox(), openPages()]);
  const objects = createLiveObjects({ client, clock, log, random: seededJitter() });
  const running = objects.run(ending.signal);
  return {
    client,
    sources: objects.sources,
    pages,
    async stop() {
      await pages.close();
      ending.abort();
      await running;
      await stop();
    },
  };
}
