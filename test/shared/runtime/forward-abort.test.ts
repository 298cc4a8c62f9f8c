import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { forwardAbort } from '#shared/runtime/clock.ts';

describe('forwardAbort', () => {
  test('aborts with the reason of its source, also of one that has aborted already', () => {
    const source = new AbortController();
    const [early, late] = [new AbortController(), new AbortController()];
    forwardAbort(source.signal, early);
    source.abort('over');
    forwardAbort(source.signal, late);
    expect([early.signal.reason, late.signal.reason]).toEqual(['over', 'over']);
  });

  test('leaves nothing behind when released', () => {
    const source = new AbortController();
    const target = new AbortController();
    forwardAbort(source.signal, target)();
    source.abort();
    expect({ aborted: target.signal.aborted, listeners: getEventListeners(source.signal, 'abort').length }).toEqual({
      aborted: false,
      listeners: 0,
    });
  });
});
