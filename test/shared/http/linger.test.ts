import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { linger } from '#shared/http/connections.ts';

test('of many connections that are not read any more those that had most time are closed', () => {
  const sockets = Array.from({ length: 40 }, () => new Socket());
  for (const socket of sockets) linger(socket);
  const closed = sockets.map(({ destroyed }) => destroyed);
  for (const socket of sockets) socket.destroy();
  expect(closed).toEqual(sockets.map((_, index) => index < 8));
});
