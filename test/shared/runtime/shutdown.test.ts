import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

function start() {
  const clock = manualClock();
  const processSignals = new EventEmitter();
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  return { clock, processSignals, shutdown: createShutdown({ log, clock, deadlineMs: 1_000, processSignals }) };
}

describe('createShutdown', () => {
  test('releases in reverse order on SIGTERM and ends with 0', async () => {
    const { shutdown, processSignals } = start();
    const released: string[] = [];
    shutdown.onRelease('first', () => void released.push('first'));
    shutdown.onRelease('second', async () => {
      await Promise.resolve();
      released.push('second');
    });
    processSignals.emit('SIGTERM', 'SIGTERM');
    expect(shutdown.signal.aborted).toBe(true);
    expect(await shutdown.finished).toBe(0);
    expect(released).toEqual(['second', 'first']);
    expect(processSignals.listenerCount('SIGTERM')).toBe(0);
  });

  test('goes on after a release that fails and ends with 1', async () => {
    const { shutdown } = start();
    const released: string[] = [];
    shutdown.onRelease('first', () => void released.push('first'));
    shutdown.onRelease('second', () => {
      throw new Error('stuck');
    });
    await shutdown.stop('test');
    expect({ code: await shutdown.finished, released }).toEqual({ code: 1, released: ['first'] });
  });

  test('ends with 1 when a release takes longer than the deadline', async () => {
    const { shutdown, clock } = start();
    shutdown.onRelease('never', () => new Promise(() => undefined));
    void shutdown.stop('test');
    await clock.advance(1_000);
    expect(await shutdown.finished).toBe(1);
  });

  test('ends at once with 1 on a second signal', async () => {
    const { shutdown, processSignals } = start();
    shutdown.onRelease('never', () => new Promise(() => undefined));
    processSignals.emit('SIGINT', 'SIGINT');
    processSignals.emit('SIGINT', 'SIGINT');
    expect(await shutdown.finished).toBe(1);
  });

  test('gives the exit code it was stopped with', async () => {
    const { shutdown } = start();
    await shutdown.stop('lost its lease', 3);
    expect(await shutdown.finished).toBe(3);
  });

  test('waits for the end when stopped twice', async () => {
    const { shutdown } = start();
    let released = 0;
    shutdown.onRelease('once', () => void (released += 1));
    await Promise.all([shutdown.stop('one'), shutdown.stop('two')]);
    expect(released).toBe(1);
  });
});
