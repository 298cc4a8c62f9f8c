import { describe, expect, test } from 'vitest';
import { derived } from '#shared/kube/reflector/reflector.ts';

describe('derived', () => {
  test('is computed again only after one of the reflectors has changed', () => {
    const listeners: ((change: never) => void)[] = [];
    const reflector = {
      onChange: (listener: (change: never) => void) => {
        listeners.push(listener);
        return () => undefined;
      },
    };
    const computed: number[] = [];
    const at = derived([reflector, reflector], (now: number) => computed.push(now));
    expect([at(1), at(2)]).toEqual([1, 1]);
    listeners[1]?.(undefined as never);
    expect([at(3), at(4)]).toEqual([2, 2]);
    expect(computed).toEqual([1, 3]);
  });
});
