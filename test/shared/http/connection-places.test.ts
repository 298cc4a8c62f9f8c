import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  beginAnswer,
  type ConnectionPlaces,
  emptyPlaces,
  endAnswer,
  release,
  takeIn,
} from '#shared/http/connections.ts';

const MAX_COUNTS = 2;

/** Two connections, each as its list of steps says. */
function full(...steps: readonly (readonly ('asks' | 'is answered')[])[]) {
  const places = emptyPlaces();
  const sockets = steps.map(() => new Socket());
  sockets.forEach((socket, index) => takeIn(places, [String(index), socket], MAX_COUNTS));
  steps.forEach((each, index) => each.forEach((step) => take(places, step, String(index))));
  return { places, sockets };
}

function take(places: ConnectionPlaces, step: 'asks' | 'is answered', key: string): void {
  (step === 'asks' ? beginAnswer : endAnswer)(places, key);
}

describe('takeIn', () => {
  test('closes none while there is room', () => {
    expect(takeIn(full([]).places, ['new', new Socket()], MAX_COUNTS)).toBeUndefined();
  });

  test.each([
    ['the oldest of those that have not asked', 0, full([], [])],
    ['one that has not asked before one that was answered', 1, full(['asks', 'is answered'], [])],
    ['one that was answered before one that is being answered', 0, full(['asks', 'is answered'], ['asks'])],
    ['of those that were answered the first to become idle', 1, firstIdle()],
  ])('closes %s', (_, index, { places, sockets }) => {
    expect(takeIn(places, ['new', new Socket()], MAX_COUNTS)).toBe(sockets[index]);
    expect(places.waiting.has('new')).toBe(true);
  });

  test('closes the new one where all are being answered', () => {
    const { places } = full(['asks'], ['asks']);
    const socket = new Socket();
    expect(takeIn(places, ['new', socket], MAX_COUNTS)).toBe(socket);
    expect(places.waiting.size).toBe(0);
  });
});

test('release forgets a connection, but not the next one from the same address', () => {
  const places = emptyPlaces();
  const [first, second] = [new Socket(), new Socket()];
  takeIn(places, ['same', first], MAX_COUNTS);
  release(places, ['same', first]);
  takeIn(places, ['same', second], MAX_COUNTS);
  release(places, ['same', first]);
  expect([...places.waiting.values()]).toEqual([second]);
});

function firstIdle() {
  const { places, sockets } = full(['asks', 'is answered'], ['asks', 'is answered']);
  beginAnswer(places, '0');
  endAnswer(places, '0');
  return { places, sockets };
}
