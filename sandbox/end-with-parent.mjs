/**
 * Loaded before a component that the sandbox starts: when the sandbox ends for any reason, the component ends too.
 * Plain JavaScript, so that nothing needs to be stripped before the component itself.
 */
import process from 'node:process';
import { setTimeout } from 'node:timers';

const GRACE_MS = 3_000;

process.on('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), GRACE_MS).unref();
});
// Waiting for the end of the sandbox must not itself keep the component running.
process.channel?.unref();
