import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { becomeIdle, type Connection, type Connections, release, takeIn } from '#shared/http/limit-connections.ts';

const MOST = 2;

/** Two connections, each as its list of steps says. */
function full(...steps: readonly (readonly ('asks' | 'is answered')[])[]) {
  const connections: Connections = new Map();
  const sockets = steps.map(() => new Socket());
  sockets.forEach((socket, index) => takeIn(connections, [String(index), socket], MOST));
  steps.forEach((each, index) => each.forEach((step) => take(connections.get(String(index)), step)));
  return { connections, sockets };
}

function take(connection: Connection | undefined, step: 'asks' | 'is answered'): void {
  if (connection === undefined) throw new Error('no such connection');
  if (step === 'asks') connection.state = 'answering';
  else becomeIdle(connection);
}

describe('takeIn', () => {
  test('closes none while there is room', () => {
    expect(takeIn(full([]).connections, ['new', new Socket()], MOST)).toBeUndefined();
  });

  test.each([
    ['the oldest of those that have not asked', 0, full([], [])],
    ['one that has not asked before one that was answered', 1, full(['asks', 'is answered'], [])],
    ['one that was answered before one that is being answered', 0, full(['asks', 'is answered'], ['asks'])],
    ['of those that were answered the first to become idle', 1, firstIdle()],
  ])('closes %s', (_, index, { connections, sockets }) => {
    expect(takeIn(connections, ['new', new Socket()], MOST)).toBe(sockets[index]);
    expect(connections.get('new')?.state).toBe('waiting');
    expect(connections.size).toBe(MOST);
  });

  test('closes the new one where all are being answered', () => {
    const { connections } = full(['asks'], ['asks']);
    const socket = new Socket();
    expect(takeIn(connections, ['new', socket], MOST)).toBe(socket);
    expect(connections.has('new')).toBe(false);
  });
});

test('release forgets a connection, but not the next one from the same address', () => {
  const connections: Connections = new Map();
  const [first, second] = [new Socket(), new Socket()];
  takeIn(connections, ['same', first], MOST);
  release(connections, 'same', first);
  takeIn(connections, ['same', second], MOST);
  release(connections, 'same', first);
  expect(Array.from(connections.values(), ({ socket }) => socket)).toEqual([second]);
});

function firstIdle() {
  const { connections, sockets } = full(['asks', 'is answered'], ['asks', 'is answered']);
  take(connections.get('0'), 'asks');
  take(connections.get('0'), 'is answered');
  return { connections, sockets };
}
