import { EventEmitter } from 'node:events';
import { startSandbox, type Sandbox } from '#sandbox/start-sandbox.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';

/** A sandbox of its own for a test file, without Plimsoll; `stop` ends all of it. */
export async function startTestSandbox(): Promise<Sandbox & { readonly stop: () => Promise<void> }> {
  const log = createLog({ component: 'test', level: 'silent', format: 'text' });
  const shutdown = createShutdown({ log, clock, deadlineMs: 10_000, processSignals: new EventEmitter() });
  const sandbox = await startSandbox({ clock, log, shutdown });
  return { ...sandbox, stop: () => shutdown.stop('the tests are over') };
}
